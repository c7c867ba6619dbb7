"""Every option, once. Values arrive as text and are read by our own parser, in our own words."""

from __future__ import annotations

from typing import Annotated

import typer

from pe_spectra.names import ENCODING_CLASSES
from pe_spectra.vocabulary import BOUNDARIES, COLOURS, FINDING_LEVELS, FORMATS

#: Names for completion, which must not import NumPy.
ENCODING_NAMES = tuple(ENCODING_CLASSES)


def complete(members: tuple[str, ...]) -> object:
    """Return what completes a word to one of `members`."""

    def complete_word(incomplete: str) -> list[str]:
        return [member for member in members if member.startswith(incomplete)]

    return complete_word


Encodings = Annotated[
    list[str] | None,
    typer.Option(
        "--encoding", "-e", metavar="SPEC...", autocompletion=complete(ENCODING_NAMES),
        help="what to analyse: an encoding, as sinusoidal:d=64,rho=100 (see encodings), or a file with a table",
    ),
]  # fmt: skip
Spec = Annotated[
    str,
    typer.Argument(metavar="SPEC", autocompletion=complete(ENCODING_NAMES), help="an encoding, or a file with a table"),
]
OptionalSpec = Annotated[
    str | None,
    typer.Argument(metavar="SPEC", autocompletion=complete(ENCODING_NAMES), help="an encoding, or a file with a table"),
]
Specs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SPEC]...", autocompletion=complete(ENCODING_NAMES), help="encodings, or files with tables"
    ),
]
EncodingName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME|SPEC]", autocompletion=complete(ENCODING_NAMES), help="one encoding"),
]
Width = Annotated[str | None, typer.Option("--d", metavar="N", help="width of the encoding, 2 to 1048576  [256]")]
Widths = Annotated[list[str] | None, typer.Option("--d", metavar="N...", help="widths, each 2 to 1048576  [256]")]
Rho = Annotated[
    str | None, typer.Option("--rho", metavar="X", help="base of the frequency ladder, 1e-6 to 1e300  [10000]")
]
Rhos = Annotated[
    list[str] | None, typer.Option("--rho", metavar="X...", help="bases of the ladder, each 1e-6 to 1e300  [10000]")
]
Positions = Annotated[
    list[str] | None,
    typer.Option("--s", "-s", metavar="N...", help="positions: 5 40 75, or 5,40,75, or 0:80:5 (half-open)  [5 40 75]"),
]
Grid = Annotated[str | None, typer.Option("--grid", "-N", metavar="N", help="lattice length, 2 to 1048576  [d]")]
FigureGrid = Annotated[
    str | None, typer.Option("--grid", "-N", metavar="N", help="lattice length, 2 to 1048576  [256]")
]
Bandwidths = Annotated[
    list[str] | None,
    typer.Option(
        "--bandwidth", "-b", metavar="X...", help="kernel width in bins, 1e-6 to 1e6; several make a sweep  [4]"
    ),
]
Boundary = Annotated[
    str | None,
    typer.Option(
        "--boundary", metavar="|".join(BOUNDARIES), autocompletion=complete(BOUNDARIES), show_default=False,
        help="the kernel at 0 and pi: cut off as in the paper, or reflected  [none]",
    ),
]  # fmt: skip
WindowFree = Annotated[bool, typer.Option("--window-free", help="show the encoding's bare kernel beside it")]
Length = Annotated[
    str | None,
    typer.Option(
        "--length", "-S", metavar="N",
        help="number of positions, 1 to 1048576  [80; 256 lags; 192 of calendar; all rows of a table]",
    ),
]  # fmt: skip
ComparedLength = Annotated[
    str | None,
    typer.Option(
        "--length", "-S", metavar="N", help="number of positions for all of them  [128, or all rows of fewer]"
    ),
]
ContextLength = Annotated[
    str | None, typer.Option("--length", "-S", metavar="T", help="take 2 pi/T as the bin's edge in place of 2 pi/d")
]
SpectrumLength = Annotated[
    str | None,
    typer.Option(
        "--length", "-S", metavar="N", help="positions to average over, where the kernel is no formula  [all]"
    ),
]
Rows = Annotated[
    str | None, typer.Option("--rows", metavar="A:B", help="the part of a table that is used, end excluded  [all]")
]
Start = Annotated[str | None, typer.Option("--start", metavar="ISO", help="the time of position 0  [2016-07-01T00:00]")]
Step = Annotated[
    str | None, typer.Option("--step", metavar="TIME", help="the time between positions: 5min, 1h, 1d  [1h]")
]
RealPositions = Annotated[
    str | None,
    typer.Option("--positions", metavar="FILE|A:B:C", help="real positions, for an encoding that takes them"),
]
Limit = Annotated[
    str | None, typer.Option("--limit", metavar="N", help="how many colliding pairs to name (all are counted)  [10]")
]
Within = Annotated[
    str | None,
    typer.Option("--within", metavar="X", help="also pairs whose codes differ by no more than X, the nearest named"),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require", metavar="TEXT...", help="'injective', 'separation>=0.1' or 'rank>=80': exit 1 unless it holds"
    ),
]
RequireMetric = Annotated[
    list[str] | None,
    typer.Option(
        "--require", metavar="TEXT",
        help="'injective', or a metric as in 'separation>=0.1': exit 1 unless it holds; give --require again for each",
    ),
]  # fmt: skip
Trained = Annotated[
    str | None, typer.Option("--trained", metavar="N", help="positions the model was trained with  [as its file says]")
]
Served = Annotated[
    str | None, typer.Option("--served", metavar="N", help="positions the model serves  [as its file says]")
]
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on", metavar="|".join(FINDING_LEVELS), autocompletion=complete(FINDING_LEVELS),
        help="exit 1 when there is a finding of that level or above",
    ),
]  # fmt: skip
Explain = Annotated[str | None, typer.Option("--explain", metavar="CODE", help="the reasoning behind a finding")]
Check = Annotated[bool, typer.Option("--check", help="compare and write nothing: exit 1 when something differs")]
Directory = Annotated[
    str, typer.Option("--output", metavar="DIR", show_default=False, help="folder of the figures  [figures]")
]

# shared by all commands that answer with data
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(FORMATS), autocompletion=complete(FORMATS), help="form of the answer  [table]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="the same as --format json")]
Output = Annotated[
    str | None, typer.Option("--output", metavar="FILE", help="write the answer to FILE (.json, .csv, .txt)")
]
Full = Annotated[bool, typer.Option("--full", help="all rows of a table on a terminal")]
FigurePath = Annotated[str | None, typer.Option("--figure", metavar="PATH", help="draw to PATH (.png, .svg, .pdf)")]
NoFigure = Annotated[bool, typer.Option("--no-figure", help="draw nothing")]
Style = Annotated[
    str | None,
    typer.Option("--style", metavar="NAME|FILE", help="style of the figure: one of Matplotlib's, a file, matplotlibrc"),
]
FigureWidth = Annotated[str | None, typer.Option("--width", metavar="IN", help="width of the figure in inches")]
FigureHeight = Annotated[str | None, typer.Option("--height", metavar="IN", help="height of the figure in inches")]
Dpi = Annotated[str | None, typer.Option("--dpi", metavar="N", help="dots per inch of a .png  [200]")]
NoTitle = Annotated[bool, typer.Option("--no-title", help="no sentence above the panels of the figure")]
NoCaption = Annotated[bool, typer.Option("--no-caption", help="no small print below the panels of the figure")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no notes on stderr")]
Colour = Annotated[
    str | None,
    typer.Option(
        "--color", metavar="|".join(COLOURS), autocompletion=complete(COLOURS), help="colours on a terminal  [auto]"
    ),
]
