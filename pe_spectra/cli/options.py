"""Every option and argument, once. Values arrive as text and are read by our own parser, in our own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from typer.core import TyperArgument, TyperOption

from pe_spectra.names import ENCODING_CLASSES
from pe_spectra.vocabulary import (
    BOUNDARIES,
    COLOURS,
    COMMON_DTYPES,
    DTYPES,
    EXPORTED,
    FINDING_LEVELS,
    FORMATS,
    RECIPE_TITLES,
    RESIZE_METHODS,
    STACKS,
)

#: Names for completion, which must not import NumPy.
ENCODING_NAMES = tuple(ENCODING_CLASSES)
RECIPE_NAMES = tuple(RECIPE_TITLES.values())


class Option(NamedTuple):
    """What is typed and said of one option, or of an argument.

    Attributes
    ----------
    typed : how it is typed, `--encoding -e`; a bare word before that names its value, alone it is an argument.
    metavar : what stands for its value; empty for a flag.
    several : whether it takes several values.
    words : what its values are completed to.
    default : what it is where nothing sets it.
    """

    typed: str
    metavar: str
    help: str
    several: bool = False
    words: Sequence[str] | Callable[[str], Sequence[str]] = ()
    default: str | None = None
    required: bool = False

    @property
    def name(self) -> str:
        """The name of its value."""
        return self.typed.split()[0].lstrip("-").replace("-", "_")

    def build(self, command: str, **settings: Any) -> TyperOption | TyperArgument:
        """Make of it what Typer parses; an option can also be set by a variable, of which help tells once."""
        declared: dict[str, Any] = {"help": self.help, "metavar": self.metavar or None, "show_default": False}
        declared |= {"default": self.default, "autocompletion": lambda _ctx, _args, word: self._complete(word)}
        flags = [word for word in self.typed.split() if word.startswith("-")]
        if not flags:
            nargs = -1 if self.several else 1
            return TyperArgument(param_decls=[self.name], required=self.required, nargs=nargs, **declared)
        if not self.metavar:
            declared |= {"is_flag": True, "default": False}
        declared["envvar"] = f"PE_SPECTRA_{command}_{max(flags, key=len).lstrip('-')}".replace("-", "_").upper()
        return TyperOption(param_decls=[self.name, *flags], multiple=self.several, **declared, **settings)

    def _complete(self, word: str) -> Sequence[str]:
        return self.words(word) if callable(self.words) else [one for one in self.words if one.startswith(word)]


def _complete_code(word: str) -> list[str]:
    """Complete the code of a finding; only this loads the checks."""
    from pe_spectra.models.checks import KINDS

    return [code for code in KINDS if code.startswith(word)]


def _complete_stacks(word: str) -> list[str]:
    """Complete the last name of --stack."""
    before, comma, last = word.rpartition(",")
    return [f"{before}{comma}{name}" for name in STACKS if name.startswith(last) and name not in before.split(",")]


_SPEC = Option("spec", "SPEC", "an encoding, or a file with a table", words=ENCODING_NAMES)
_REQUIRED = "exit 1 unless it holds"

#: Every option and argument by a name of its own; behind a colon, what tells it from others that are typed alike.
OPTIONS: Mapping[str, Option] = {
    # what is looked at
    "encoding": Option(
        "--encoding -e",
        "SPEC...",
        "what to analyse: an encoding, as sinusoidal:d=64,rho=100 (see encodings), or a file with a table",
        several=True,
        words=ENCODING_NAMES,
    ),
    "spec": _SPEC._replace(required=True),
    "spec:optional": _SPEC,
    "specs": Option("specs", "[SPEC]...", "encodings, or files with tables", several=True, words=ENCODING_NAMES),
    "name": Option("name", "[NAME|SPEC]", "one encoding", words=ENCODING_NAMES),
    "configs": Option(
        "configs",
        "[CONFIG]...",
        "config.json, params.json, a .gguf file, a model's folder, org/model in the local cache, or -",
        several=True,
    ),
    "sides": Option(
        "sides",
        "A [B]",
        "config.json, params.json, GGUF, a folder, org/model; inv_freq or cos and sin; tables",
        several=True,
    ),
    "d": Option("--d", "N", "width of the encoding, 2 to 1048576  [256]"),
    "d:several": Option("--d", "N...", "widths, each 2 to 1048576  [256]", several=True),
    "d:head": Option("--d", "N", "rotary width of a head, even, 4 to 16384  [128]", default="128"),
    "rho": Option("--rho", "X", "base of the frequency ladder, 1e-6 to 1e300  [10000]"),
    "rho:several": Option("--rho", "X...", "bases of the ladder, each 1e-6 to 1e300  [10000]", several=True),
    "length": Option(
        "--length -S",
        "N",
        "number of positions, 1 to 1048576  [80; 256 lags; 192 of calendar; all rows of a table]",
    ),
    "length:averaged": Option("--length -S", "N", "positions to average over, where the kernel is no formula  [all]"),
    "length:edge": Option("--length -S", "T", "take 2 pi/T as the bin's edge in place of 2 pi/d"),
    "length:all": Option("--length -S", "N", "number of positions for all of them  [128, or all rows of fewer]"),
    "rows": Option("--rows", "A:B", "the part of a table that is used, end excluded  [all]"),
    "positions": Option("--positions", "FILE|A:B:C", "real positions, for an encoding that takes them"),
    "start": Option("--start", "ISO", "the time of position 0  [2016-07-01T00:00]"),
    "step": Option("--step", "TIME", "the time between positions: 5min, 1h, 1d  [1h]"),
    # how it is looked at
    "s": Option("--s -s", "N...", "positions: 5 40 75, or 5,40,75, or 0:80:5 (half-open)  [5 40 75]", several=True),
    "grid": Option("--grid -N", "N", "lattice length, 2 to 1048576  [d]"),
    "grid:figures": Option("--grid -N", "N", "lattice length, 2 to 1048576  [256]"),
    "bandwidth": Option(
        "--bandwidth -b", "X...", "kernel width in bins, 1e-6 to 1e6; several make a sweep  [4]", several=True
    ),
    "boundary": Option(
        "--boundary",
        "|".join(BOUNDARIES),
        "the kernel at 0 and pi: cut off as in the paper, or reflected  [none]",
        words=BOUNDARIES,
    ),
    "window_free": Option("--window-free", "", "show the encoding's bare kernel beside it"),
    "limit": Option("--limit", "N", "how many colliding pairs to name (all are counted)  [10]"),
    "within": Option("--within", "X", "also pairs whose codes differ by no more than X, the nearest named"),
    "all": Option("every --all", "", "the whole catalogue, random values last"),
    "sort": Option("--sort", "METRIC", "order by a metric, best first"),
    "periods": Option("--periods", "NAME,..", "periods to look for: day,week or durations such as 12h"),
    "resize": Option("--resize", "N|HxW", "what interpolation to another size does"),
    "method": Option(
        "--method",
        "NAME",
        f"how to interpolate: {', '.join(RESIZE_METHODS)}  [bicubic]",
        words=RESIZE_METHODS,
        default="bicubic",
    ),
    "align_corners": Option("--align-corners", "", "keep the first and last rows in place"),
    "dtype": Option(
        "--dtype",
        "|".join(DTYPES) + "...",
        f"number types to look at  [{' '.join(COMMON_DTYPES)}]",
        several=True,
        words=DTYPES,
    ),
    "recipe": Option(
        "--recipe",
        "|".join(RECIPE_NAMES) + "...",
        "which steps are in the type: none but the sum; only the final cast; positions first and the final cast; all"
        "  [every one]",
        several=True,
        words=RECIPE_NAMES,
    ),
    "embedding": Option(
        "--embedding",
        "X",
        "standard deviation of the token's embedding that codes are added to, 1e-6 to 1e6  [1]",
        default="1",
    ),
    # of models
    "trained": Option("--trained", "N", "positions the model was trained with  [as its file says]"),
    "trained:audit": Option("--trained", "N", "training context length  [the file's]"),
    "trained:context": Option("--trained", "N", "training context length, 8 to 1073741824"),
    "served": Option("--served", "N", "positions the model serves  [as its file says]"),
    "served:audit": Option("--served", "N", "inference context length  [the file's]"),
    "base": Option("--base", "X", "base that was trained with (rope_theta), 2 to 1e18"),
    "target": Option("--target", "N", "inference context length, above --trained"),
    "stack": Option("--stack", "X,Y", "A as two implementations read it", words=_complete_stacks),
    "all_stacks": Option("--all-stacks", "", "A as every implementation reads it, and one example of each scaling"),
    # what is demanded
    "require": Option(
        "--require", "TEXT...", f"'injective', 'separation>=0.1' or 'rank>=80': {_REQUIRED}", several=True
    ),
    "require:metric": Option(
        "--require",
        "TEXT",
        f"'injective', or a metric as in 'separation>=0.1': {_REQUIRED}; give --require again for each",
        several=True,
    ),
    "require:codes": Option(
        "--require",
        "TEXT",
        f"'injective', 'separation>=0.1' or 'ulp_margin>=1' of every code: {_REQUIRED}; give --require again for each",
        several=True,
    ),
    "fail_on": Option(
        "--fail-on",
        "|".join(FINDING_LEVELS),
        "exit 1 when there is a finding of that level or above",
        words=FINDING_LEVELS,
    ),
    "explain": Option("--explain", "CODE", "the reasoning behind a finding"),
    "explain:completed": Option("--explain", "CODE", "the reasoning behind a finding", words=_complete_code),
    "check": Option("--check", "", "compare and write nothing: exit 1 when something differs"),
    "check:found": Option("--check", "", "exit 1 when something differs"),
    # where the answer goes, and in which form
    "format": Option("form --format", "|".join(FORMATS), "form of the answer  [table]", words=FORMATS),
    "json": Option("--json", "", "the same as --format json"),
    "output": Option("--output", "FILE", "write the answer to FILE (.json, .csv, .txt)"),
    "output:array": Option("--output", "FILE", ".npy, .csv, .tsv or .safetensors; - is csv on stdout"),
    "output:folder": Option("--output", "DIR", "folder of the figures  [figures]", default="figures"),
    "what": Option("--what", "|".join(EXPORTED), "what to export  [the first that it has]", words=EXPORTED),
    "full": Option("--full", "", "all rows of a table on a terminal"),
    "figure": Option("--figure", "PATH", "draw to PATH (.png, .svg, .pdf)"),
    "no_figure": Option("--no-figure", "", "draw nothing"),
    "style": Option("--style", "NAME|FILE", "style of the figure: one of Matplotlib's, a file, matplotlibrc"),
    "width": Option("--width", "IN", "width of the figure in inches"),
    "height": Option("--height", "IN", "height of the figure in inches"),
    "dpi": Option("--dpi", "N", "dots per inch of a .png  [200]"),
    "no_title": Option("--no-title", "", "no sentence above the panels of the figure"),
    "no_caption": Option("--no-caption", "", "no small print below the panels of the figure"),
    "quiet": Option("--quiet -q", "", "no notes on stderr"),
    "color": Option("--color", "|".join(COLOURS), "colours on a terminal  [auto]", words=COLOURS),
    "settings": Option("--settings", "FILE", "defaults from a TOML file: flat keys, or a [command] table"),
}
