"""Every option and argument, once: how it is typed, what is said of it, and how its value is read, in our own words."""

from __future__ import annotations

from collections.abc import Mapping

from pe_spectra import limits
from pe_spectra.cli.declaring import Option, Options
from pe_spectra.names import ENCODING_CLASSES
from pe_spectra.numbers import Choice, IntegerRange, RealRange
from pe_spectra.vocabulary import (
    BOUNDARIES,
    CLAIM_SOURCES,
    COLOURS,
    COMMON_DTYPES,
    DTYPES,
    EXPORTED,
    FINDING_FORMATS,
    FINDING_LEVELS,
    FORMAT_SUFFIXES,
    RECIPE_TITLES,
    RESIZE_METHODS,
    STACKS,
)

#: Names for completion, which must not import NumPy.
ENCODING_NAMES = tuple(ENCODING_CLASSES)
RECIPE_NAMES = tuple(RECIPE_TITLES.values())


class _Recipes(Choice):
    """Recipes, which keep their names of release 0.1.0."""

    def parse(self, text: str, name: str) -> str:
        return super().parse(RECIPE_TITLES.get(text, text), name)


def _complete_stacks(word: str) -> list[str]:
    """Complete the last name of --stack."""
    before, comma, last = word.rpartition(",")
    return [f"{before}{comma}{name}" for name in STACKS if name.startswith(last) and name not in before.split(",")]


_LENGTH = IntegerRange(minimum=limits.MIN_LENGTH, maximum=limits.MAX_LENGTH)
_WIDTH = IntegerRange(minimum=limits.MIN_WIDTH, maximum=limits.MAX_WIDTH)
#: Context lengths of models: of files, and for the methods that lengthen one; the shortest of these is longer than the
#: wavelength of the fastest pair, 2 pi.
_CONTEXT = IntegerRange(minimum=1, maximum=limits.MAX_MODEL_LENGTH)
_TURNED = IntegerRange(minimum=8, maximum=limits.MAX_MODEL_LENGTH)
_SPEC = "an encoding, or a file with a table"
_REQUIRED = "exit 1 unless it holds"

#: Options and arguments by names of their own; behind a colon, what tells one from others that are typed alike.
_OPTIONS: Mapping[str, Option] = {
    # what is looked at
    "encoding": Option(
        "--encoding -e",
        "SPEC...",
        "what to analyse: an encoding, as sinusoidal:d=64,rho=100 (see encodings), or a file with a table",
        several=True,
        words=ENCODING_NAMES,
    ),
    "spec": Option("spec", "SPEC", _SPEC, words=ENCODING_NAMES, required=True),
    "spec:optional": Option("spec", "SPEC", _SPEC, words=ENCODING_NAMES),
    "specs": Option("specs", "[SPEC]...", "encodings, or files with tables", several=True, words=ENCODING_NAMES),
    "name": Option("name", "[NAME|SPEC]", "one encoding", words=ENCODING_NAMES),
    "claim": Option("claim", "[ID]", "one statement, in full", words="pe_spectra.claims:list_claims"),
    "source": Option("--source", "", "statements of one text only", Choice(members=tuple(CLAIM_SOURCES))),
    "configs": Option(
        "configs",
        "[CONFIG]...",
        "config.json, params.json, a .gguf file, a model's folder, org/model in the local cache, or -",
        several=True,
    ),
    "config": Option("config", "[CONFIG]", "a model to be lengthened, named as for audit"),
    "sides": Option(
        "sides",
        "A [B]...",
        "config.json, params.json, GGUF, a folder, org/model; inv_freq or cos and sin; tables",
        several=True,
    ),
    "d": Option("--d", "N", "width of the encoding, 2 to 1048576", usual="256"),
    "d:several": Option("--d", "N...", "widths, each 2 to 1048576", several=True, usual="256"),
    "d:head": Option(
        "--d",
        "N",
        "rotary width of a head, even, 4 to 16384",
        IntegerRange(minimum=4, maximum=limits.MAX_HEAD_WIDTH),
        usual="128",
    ),
    "rho": Option("--rho", "X", "base of the frequency ladder, 1e-6 to 1e300", usual="10000"),
    "rho:several": Option("--rho", "X...", "bases of the ladder, each 1e-6 to 1e300", several=True, usual="10000"),
    "length": Option(
        "--length -S",
        "N",
        "number of positions, 1 to 1048576  [80; 256 lags; 192 of calendar; all rows of a table]",
        _LENGTH,
    ),
    "length:together": Option(
        "--length -S",
        "N",
        "positions, 1 to 1048576  [80; 256 lags; 192 of calendar; a table's rows; of several the longest all have]",
        _LENGTH,
    ),
    "length:averaged": Option(
        "--length -S", "N", "positions to average over, where the kernel is no formula  [all]", _LENGTH
    ),
    "length:edge": Option(
        "edge --length -S",
        "T",
        "take 2 pi/T as the bin's edge in place of 2 pi/d",
        IntegerRange(minimum=limits.MIN_LENGTH, maximum=limits.MAX_CONTEXT),
    ),
    "length:all": Option(
        "--length -S", "N", "number of positions for all of them  [the fewest rows that one has, else 128]", _LENGTH
    ),
    "rows": Option("--rows", "A:B", "the part of a table that is used, end excluded  [all]"),
    "positions": Option(
        "--positions",
        "FILE[::COLUMN]|A:B:C",
        "real positions, or whole ones with gaps: a file with a column of numbers or ISO times",
    ),
    "start_position": Option(
        "--start-position",
        "N",
        "the first position, 0 to 2**53",
        IntegerRange(minimum=0, maximum=limits.MAX_POSITION),
        default="0",
    ),
    "start": Option("--start", "ISO", "the time of position 0  [2016-07-01T00:00; the first of --positions]"),
    "step": Option("--step", "TIME", "the time between positions: 5min, 1h, 0.2ms, 1month  [1h; that of --positions]"),
    # how it is looked at
    "s": Option("--s -s", "N...", "positions: 5 40 75, or 5,40,75, or 0:80:5 (half-open)  [5 40 75]", several=True),
    "grid": Option("--grid -N", "N", "lattice length, 2 to 1048576  [d]", _WIDTH),
    "grid:figures": Option("--grid -N", "N", "lattice length, 2 to 1048576  [256]", _WIDTH),
    "bandwidth": Option(
        "--bandwidth -b",
        "X...",
        "kernel width in bins, 1e-6 to 1e6; several make a sweep  [4]",
        RealRange(minimum=limits.MIN_BANDWIDTH, maximum=limits.MAX_BANDWIDTH),
        several=True,
    ),
    "boundary": Option(
        "--boundary",
        "",
        "the kernel at 0 and pi: cut off as in the paper, or reflected",
        Choice(members=BOUNDARIES),
        usual=BOUNDARIES[0],
    ),
    "window_free": Option("--window-free", "", "show the encoding's bare kernel beside it"),
    "limit": Option(
        "--limit",
        "N",
        "how many colliding pairs to name (all are counted)",
        IntegerRange(minimum=0, maximum=limits.MAX_LENGTH),
        default="10",
    ),
    "within": Option(
        "--within",
        "X",
        "also pairs whose vectors differ by no more than X, the nearest named",
        RealRange(minimum=1e-300, maximum=1e300),
    ),
    "all": Option("every --all", "", "the whole catalogue, random values last"),
    "sort": Option("--sort", "COLUMN", "order by a column of --format csv, best first", usual="relative_separation"),
    "periods": Option("--periods", "NAME,..", "periods to look for: day,week or durations such as 12h"),
    "resize": Option("--resize", "N|HxW", "what interpolation to another size does"),
    "resize:export": Option("--resize", "N|HxW", "interpolate the table to another size"),
    "method": Option(
        "--method",
        "NAME",
        f"how to interpolate: {', '.join(RESIZE_METHODS)}",
        Choice(members=RESIZE_METHODS),
        default="bicubic",
    ),
    "align_corners": Option("--align-corners", "", "keep the first and last rows in place"),
    "dtype": Option(
        "--dtype", "", f"number types to look at  [{' '.join(COMMON_DTYPES)}]", Choice(members=DTYPES), several=True
    ),
    "recipe": Option(
        "--recipe",
        "",
        "which steps are in the type: none but the sum; frequencies; only the final cast; positions first and the "
        "final cast; all  [every one but narrow-frequencies]",
        _Recipes(members=RECIPE_NAMES),
        several=True,
    ),
    "embedding": Option(
        "--embedding",
        "X",
        "standard deviation of the token's embedding that vectors are added to, 1e-6 to 1e6",
        RealRange(minimum=1e-6, maximum=1e6),
        default="1",
    ),
    # of a series
    "file": Option("file", "FILE", "a series: .csv, .tsv, .npy, .npz, .parquet", required=True),
    "column": Option("--column", "NAME", "column to look at, again for each  [all of numbers]", several=True),
    "d:model": Option(
        "--d", "N", "width of the model, 2 to 65536", IntegerRange(minimum=2, maximum=1 << 16), default="256"
    ),
    "window:samples": Option(
        "--window",
        "N",
        "samples that a model sees at once, 2 to 4096  [two of the longest period]",
        IntegerRange(minimum=2, maximum=limits.MAX_WINDOW),
    ),
    "candidates": Option(
        "--candidates",
        "SPEC...",
        "encodings to choose from  [a short list, and encodings of the periods found]",
        several=True,
        words=ENCODING_NAMES,
    ),
    "time": Option("--time", "NAME", "column of the times  [the first with dates, or called time, date, timestamp]"),
    "time_unit": Option(
        "--time-unit", "TIME", "what 1 is in a column of times that are numbers, or a row: ms, h, month  [not known]"
    ),
    "start:series": Option("--start", "ISO", "with --time-unit, the date of time 0, or of the first row  [not known]"),
    # of models
    "trained": Option("--trained", "N", "positions the model was trained with  [as its file says]", _CONTEXT),
    "trained:audit": Option("--trained", "N", "training context length  [the file's]", _CONTEXT),
    "trained:context": Option("--trained", "N", "training context length, 8 to 1073741824  [CONFIG's]", _TURNED),
    "served": Option("--served", "N", "positions the model serves  [as its file says]", _CONTEXT),
    "allocated": Option("--allocated", "N", "positions allocated, by which some stacks choose  [--served]", _CONTEXT),
    "served:audit": Option("--served", "N", "inference context length  [the file's]", _CONTEXT),
    "base": Option("--base", "X", "base in training (rope_theta), 2 to 1e18", RealRange(minimum=2, maximum=1e18)),
    "target": Option("--target", "N", "inference context length, above --trained", _TURNED),
    "stack": Option("--stack", "X,Y", "A as two implementations read it", words=_complete_stacks),
    "reader": Option("--reader", "X,Y", "who reads CONFIG  [what it is made for]", words=_complete_stacks),
    "stack:one": Option("--stack", "X", "what CONFIG is written for  [transformers-5]", words=_complete_stacks),
    "write": Option("--write", "NEW.json", "write CONFIG for the target, by the way that is recommended"),
    "all_stacks": Option("--all-stacks", "", "A as every implementation reads it, and one example of each scaling"),
    # what is demanded
    "require": Option(
        "--require", "TEXT...", f"'injective', 'separation>=0.1' or 'rank>=80': {_REQUIRED}", several=True
    ),
    "require:metric": Option(
        "--require",
        "TEXT",
        f"'injective', or a column of --format csv as in 'separation>=0.1': {_REQUIRED}; give --require again for each",
        several=True,
    ),
    "require:codes": Option(
        "--require",
        "TEXT",
        "'injective' at the last stage, 'separation>=0.1' or 'ulp_margin>=1' of every code: "
        f"{_REQUIRED}; give --require again for each",
        several=True,
    ),
    "fail_on": Option("--fail-on", "", "exit 1 where a finding has this level or more", Choice(members=FINDING_LEVELS)),
    "models_only": Option("--models-only", "", "pass over files that state no model, with a note, as hooks do"),
    "explain": Option("--explain", "CODE", "the reasoning behind a finding"),
    "explain:completed": Option(
        "--explain", "CODE", "the reasoning behind a finding", words="pe_spectra.models.checks.kinds:KINDS"
    ),
    "check": Option("--check", "", "compare and write nothing: exit 1 when something differs"),
    "check:found": Option("--check", "", "exit 1 when something differs"),
    "strict": Option("--strict", "", "with --check, what a side does not say fails too"),
    # of a sweep
    "command": Option("command", "COMMAND", "the command that answers at every point", required=True),
    "over": Option(
        "over", "[SPEC|FILE]...", "encodings or files, each with every point", several=True, words=ENCODING_NAMES
    ),
    "grid:sweep": Option(
        "--grid",
        "NAME=VALUES",
        "values of an option of COMMAND: d=64,128 or bandwidth=1:16:1 (half-open)",
        several=True,
    ),
    "output:sweep": Option("--output", "FILE", "a .csv file with a line for each row, gone on with; or .parquet"),
    # of a report
    "items:report": Option(
        "items",
        "[WHAT]...",
        "a SPEC, a table, a configuration, a folder of models, results of experiment run, a recorded series; several "
        "are compared",
        several=True,
        words=ENCODING_NAMES,
    ),
    "paper": Option("--paper", "", "the reproduction of the paper: its figures, its claims and their errata"),
    "output:page": Option("--output", "FILE.html", "the page"),
    # where the answer goes, and in which form
    "format": Option("form --format", "", "form of the answer  [table]", Choice(members=tuple(FORMAT_SUFFIXES))),
    "format:findings": Option("form --format", "", "form of the answer  [table]", Choice(members=FINDING_FORMATS)),
    "json": Option("--json", "", "the same as --format json"),
    "output": Option("--output", "FILE", f"write the answer to FILE ({', '.join(FORMAT_SUFFIXES.values())})"),
    "output:array": Option("--output", "FILE", ".npy, .npz, .csv, .tsv or .safetensors; - is csv on stdout"),
    "output:folder": Option("--output", "DIR", "folder of the figures", default="figures"),
    "what": Option("--what", "", "what to export  [the first that it has]", Choice(members=EXPORTED)),
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
    "color": Option("--color", "", "colours on a terminal", Choice(members=COLOURS), default="auto"),
    "settings": Option("--settings", "FILE", "defaults from a TOML file: flat keys, or a [command] table"),
}
#: Every option and argument by a name of its own; those of a few commands stand in modules of their own.
OPTIONS: Mapping[str, Option] = Options(_OPTIONS, "frozen_options", "experiment_options")
