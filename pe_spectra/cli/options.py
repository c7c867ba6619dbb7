"""Every option, once. Values arrive as text and are read by our own parser, in our own words."""

from __future__ import annotations

from typing import Annotated

import typer

#: Names for completion, which must not import NumPy; a test keeps them equal to the catalogue.
ENCODING_NAMES = ("sinusoidal", "dft", "dfstrans")
FORMATS = ("table", "json", "csv")
BOUNDARIES = ("none", "reflect")
COLOURS = ("auto", "always", "never")


def _complete(members: tuple[str, ...]) -> object:
    def complete(incomplete: str) -> list[str]:
        return [member for member in members if member.startswith(incomplete)]

    return complete


Encodings = Annotated[
    list[str] | None,
    typer.Option(
        "--encoding", "-e", metavar="SPEC...", autocompletion=_complete(ENCODING_NAMES),
        help="what to analyse: sinusoidal, dft, dfstrans, with parameters as in sinusoidal:d=64,rho=100",
    ),
]  # fmt: skip
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
    str,
    typer.Option(
        "--boundary", metavar="|".join(BOUNDARIES), autocompletion=_complete(BOUNDARIES), show_default=False,
        help="the kernel at 0 and pi: cut off as in the paper, or reflected  [none]",
    ),
]  # fmt: skip
WindowFree = Annotated[bool, typer.Option("--window-free", help="show the encoding's bare kernel beside it")]
Length = Annotated[
    str | None, typer.Option("--length", "-S", metavar="N", help="number of positions, 1 to 1048576  [80]")
]
ContextLength = Annotated[
    str | None, typer.Option("--length", "-S", metavar="T", help="take 2 pi/T as the bin's edge in place of 2 pi/d")
]
Limit = Annotated[
    str | None, typer.Option("--limit", metavar="N", help="how many colliding pairs to name (all are counted)  [10]")
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require", metavar="TEXT...", help="'injective', 'separation>=0.1' or 'rank>=80': exit 1 unless it holds"
    ),
]
Check = Annotated[bool, typer.Option("--check", help="compare and write nothing: exit 1 when something differs")]
Directory = Annotated[
    str, typer.Option("--output", metavar="DIR", show_default=False, help="folder of the figures  [figures]")
]

# shared by all commands that answer with data
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(FORMATS), autocompletion=_complete(FORMATS), help="form of the answer  [table]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="the same as --format json")]
Output = Annotated[
    str | None, typer.Option("--output", metavar="FILE", help="write the answer to FILE (.json, .csv, .txt)")
]
Full = Annotated[bool, typer.Option("--full", help="all rows of a table on a terminal")]
FigurePath = Annotated[str | None, typer.Option("--figure", metavar="PATH", help="draw to PATH (.png, .svg, .pdf)")]
NoFigure = Annotated[bool, typer.Option("--no-figure", help="draw nothing")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no notes on stderr")]
Colour = Annotated[
    str | None,
    typer.Option(
        "--color", metavar="|".join(COLOURS), autocompletion=_complete(COLOURS), help="colours on a terminal  [auto]"
    ),
]
