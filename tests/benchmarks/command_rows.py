"""Whole commands against the start of what they stand on: rows S1 to S4, K1 and K2.

S2 by its parts, all in one run, as multiples of `import typer` (73 ms of one core): Typer, ended at once, 0.80; NumPy
beside it 0.67; json, decimal and dataclasses 0.07; our 55 modules 0.27; the command itself, of which half is
arithmetic, 0.12; and Python's own share in starting a program. Without modules of ours it would be 1.56, so 2.1 leaves
them and the work 0.54.

S3: the least that a figure of two panels costs is what Matplotlib takes to load and to draw two bare ones of the same
size with logarithmic ticks, after Typer and NumPy: 7.6 of `import typer`, all in one run. That is more than
the 7 that S3 was to be, so the row that counts is the one over that: its own modules, Eq. (15) and all that the panels
show are the rest.

S4: Typer and NumPy, ended at once, are 1.1 of `import numpy`, so 1.5 leaves a command 0.4, some 40 ms, for modules of
its own. The least that it must load is measured beside it: Typer, NumPy, what else of both, of Python and of SciPy its
answer needs (`NEEDED`), and the compiled code of those of our modules in which it runs a function, read but not run.
That is 1.1 to 1.3 of `import numpy`, and 1.1 times it no more than 1.5 but for noise. `inspect` and `experiment report`
ask SciPy for quantiles of noise, whose import loads all of NumPy and is 2 more: their least is 3.1, and 1.1 times it
3.4. What a missed row is above its least are the bodies of modules, which make classes and tables, and modules that are
loaded and not entered: of the 72 modules of an audit it enters 51. `schema` prints a file, and loads no NumPy.

K1, K2: a check reads every file and computes its frequencies, as an audit does; findings, which take most of the time
of an audit, are looked for again only where a key changed.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pe_spectra.benchmarks.measuring import PROGRAM, Ratios, compare_programs
from pe_spectra.benchmarks.start_ratios import SPECTRUM, TYPER
from pe_spectra.cli import _MANY
from pe_spectra.cli.commands import COMMANDS
from tests.benchmarks.measuring import compare_loading
from tests.program.command_line_files import READINGS
from tests.program.walks import PACKAGE, walk_apart

_BARE = ["-c", "pass"]
_NUMPY = ["-c", "import numpy"]
#: What train networks, which takes an extra, what draws all figures, which is S3 many times over, what runs several
#: commands, and what measures.
_LONG = ("experiment run", "experiment check", "experiment data", "figures", "report", "bench")
#: Instead of the first example in its help, where that reads files which are not here.
_INSTEAD = {
    "diff": "diff config.json --stack transformers-5,vllm",
    "experiment report": "experiment report",
    "freeze": "freeze config.json --output other.json",
}
#: Those that stay below the target, noise included.
QUICK = (
    *("spectrum", "reconstruct", "faithfulness", "count-low-bin", "claims", "schema", "encodings", "export"),
    *("audit", "diff", "check", "stacks", "sweep", "precision"),
)
_AT_ONCE = f"import gc, os; gc.set_threshold({_MANY}); import {{}}; os._exit(0)"
#: What stands in S2 before anything of ours, and the most that it has been of `import typer`.
PARTS = {"Typer alone": 0.9, "Typer and NumPy": 1.6, "Typer, NumPy and what else of Python is needed": 1.7}
_PART_MODULES = ("typer", "typer, numpy", "typer, numpy, json, decimal, dataclasses, shlex")
#: Two bare panels of the size that `spectrum` draws.
_PANELS = f"""
import gc, os, sys
gc.set_threshold({_MANY})
import matplotlib.artist, numpy, typer
matplotlib.artist.kwdoc = lambda _: ""
from matplotlib.figure import Figure
figure = Figure(figsize=(6.8, 9.2))
for axes in figure.subplots(2):
    axes.set_xscale("log")
    axes.plot([1e-4, 2], [3, 4])
figure.savefig(sys.argv[1], dpi=100)
os._exit(0)
"""
#: What the answer of a command needs of NumPy and of Python besides what all commands do.
NEEDED = {
    "faithfulness": ("numpy.fft",),
    "claims": ("numpy.fft",),
    "freeze": ("hashlib",),
    "check": ("hashlib",),
    "compare": ("numpy.fft",),
    "inspect": ("numpy.fft", "numpy.random", "numpy.polynomial", "scipy.special"),
    "series": ("numpy.fft",),
    "experiment report": ("csv", "numpy.random", "scipy.special"),
    "sweep": ("csv",),
}
#: The most that a command may take: 1.1 times the least that it must load where that is more than what all may.
MOST = {name: 3.4 if "scipy.special" in needed else 1.5 for name, needed in NEEDED.items()}
_READ_CODE = f"""
import gc, os, sys
gc.set_threshold({_MANY})
import {{}}
from importlib.machinery import SourceFileLoader
for path in sys.argv[1:]:
    SourceFileLoader("module", path).get_code("module")
os._exit(0)
"""
#: Every other command on its example.
LINES = {
    name: _INSTEAD.get(name, declared.examples[0].removeprefix("pe-spectra "))
    for name, declared in COMMANDS.items()
    if name not in _LONG
}
_MODEL = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "rope_theta": 5e5,
    "max_position_embeddings": 8192,
}


#: Configurations that one check looks at.
CHECKED = 1000


def measure_spectrum_from_bare() -> Ratios | str:
    return compare_programs(SPECTRUM, _BARE)


def measure_part(what: str) -> Ratios | str:
    modules = dict(zip(PARTS, _PART_MODULES, strict=True))[what]
    return compare_programs(["-c", _AT_ONCE.format(modules)], TYPER)


def measure_figure() -> Ratios | str:
    return _measure_figure(lambda _: TYPER)


def measure_figure_over_bare() -> Ratios | str:
    return _measure_figure(lambda folder: ["-c", _PANELS, str(folder / "bare.png")])


def _measure_figure(refer: Callable[[Path], Sequence[str]]) -> Ratios | str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [*PROGRAM, "spectrum", "--json", "--figure", str(folder / "figure.png")]
        return compare_programs(command, refer(folder), rounds=5)


def measure_loading(name: str) -> Ratios:
    with tempfile.TemporaryDirectory() as folder:
        _write_models(Path(folder), 1)
        (Path(folder) / "readings.csv").write_bytes(READINGS)
        return compare_loading(shlex.split(LINES[name]), _NUMPY, Path(folder))


def measure_least(name: str) -> Ratios | str:
    with tempfile.TemporaryDirectory() as folder:
        _write_models(Path(folder), 1)
        (Path(folder) / "readings.csv").write_bytes(READINGS)
        found = walk_apart(shlex.split(LINES[name]), Path(folder))
    entered = sorted({place.partition(":")[0] for place in found.calls})
    modules = ", ".join([_PART_MODULES[-1], *NEEDED.get(name, ())])
    return compare_programs(
        ["-c", _READ_CODE.format(modules), *(str(PACKAGE / path) for path in entered)], _NUMPY, rounds=7
    )


def measure_check() -> Ratios | str:
    with tempfile.TemporaryDirectory() as name:
        reference, model = _write_models(Path(name), 1)
        return compare_programs([*PROGRAM, "check", model, "--against", reference], _NUMPY)


def measure_many_checks() -> Ratios | str:
    with tempfile.TemporaryDirectory() as name:
        reference, *models = _write_models(Path(name), CHECKED)
        audit = [*PROGRAM, "audit", *models, "--format", "csv"]
        return compare_programs([*PROGRAM, "check", *models, "--against", reference], audit, rounds=5)


def _write_models(folder: Path, number: int) -> list[str]:
    """Write configurations that differ, and what is frozen of them; give the frozen file and theirs."""
    from pe_spectra.frozen.entries import take_side, write_entry
    from pe_spectra.frozen.frozen_file import FrozenFile, write_frozen
    from pe_spectra.model_sources import read_side

    models = [folder / ("config.json" if number == 1 else f"config-{place}.json") for place in range(number)]
    for place, path in enumerate(models):
        path.write_text(json.dumps({**_MODEL, "rope_theta": 5e5 + place}), encoding="utf-8")
    names = ["config.json"] if number == 1 else [str(path) for path in models]
    entries = {name: write_entry(take_side(read_side(str(path)))) for name, path in zip(names, models, strict=True)}
    (folder / "ref.json").write_text(write_frozen(FrozenFile(entries=entries)), encoding="utf-8")
    return [str(folder / "ref.json"), *map(str, models)]
