"""Whole commands against the start of what they stand on: rows S1 to S4."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

from pe_spectra.cli.commands import COMMANDS
from tests.benchmarks.measuring import Measured, compare_commands, compare_loading

_TYPER = ["-c", "import typer"]
_BARE = ["-c", "pass"]
_NUMPY = ["-c", "import numpy"]
#: What train networks, which takes an extra, and what draws all figures, which is S3 many times over.
_LONG = ("experiment run", "experiment check", "experiment data", "figures")
#: Instead of the first example in its help, where that reads files which are not here.
_INSTEAD = {
    "diff": "diff config.json --stack transformers-5,vllm",
    "experiment report": "experiment report",
}
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


def measure_help() -> Measured:
    return compare_commands(["-m", "pe_spectra", "--help"], _TYPER)


def measure_version() -> Measured:
    return compare_commands(["-m", "pe_spectra", "--version"], _TYPER)


def measure_spectrum() -> Measured:
    return compare_commands(["-m", "pe_spectra", "spectrum", "--json", "--no-figure"], _TYPER)


def measure_spectrum_from_bare() -> Measured:
    return compare_commands(["-m", "pe_spectra", "spectrum", "--json", "--no-figure"], _BARE)


def measure_figure() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        figure = str(Path(folder) / "figure.png")
        command = ["-m", "pe_spectra", "spectrum", "--json", "--figure", figure]
        return compare_commands(command, _TYPER, rounds=5)


def measure_loading(name: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(_MODEL), encoding="utf-8")
        return compare_loading(shlex.split(LINES[name]), _NUMPY, Path(folder))
