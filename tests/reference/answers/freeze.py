"""Freeze the answers of an installed release: python -m tests.reference.answers.freeze (from the root of a checkout).

What is kept of a JSON document: every key, every type, every number to twelve digits, every word that programs read.
Sentences are for people and may be written better, so that only their presence is kept. A list of more than
`MOST` numbers is kept by its length, evenly spaced samples and its sum.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.planted import make_grid, make_trained, plant_cls, plant_copies, plant_padding, plant_seam_jump, plant_tail

HERE = Path(__file__).parent
FROZEN = HERE / "answers.json.gz"
MODELS = HERE.parents[1] / "models"
MOST = 40
#: Keys whose texts are sentences for people.
SENTENCES = {"text", "message", "notes", "named", "effect", "why", "assumption", "remark", "summary", "pitfalls"}
SENTENCES |= {"formula", "source", "reasoning", "accepts", "meaning", "references", "undefined", "certificate_text"}
SENTENCES |= {"statement", "printed", "computed", "refusal", "error", "paths", "version", "command", "section"}
#: Columns of CSV that hold such sentences.
SENTENCE_COLUMNS = SENTENCES | {"finding", "accepts", "views"}


def list_lines() -> list[str]:
    """The command lines, one of each line of lines.txt."""
    text = (HERE / "lines.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def fill_folder(folder: Path) -> None:
    """Write the tables, configurations and dumps that the command lines name."""
    table = make_trained(256, 32)
    grid = plant_cls(np.concatenate([np.ones((1, 32)), make_grid(8, 8, 32)]))
    planted = {"table": table[:64], "grid": grid, "zeros": np.zeros((64, 4)), "copies": plant_copies(table)}
    planted |= {"padding": plant_padding(table), "seam": plant_seam_jump(table), "tail": plant_tail(table, 200)}
    small = make_trained(64, 16)
    planted |= {"shifted": 2 * small[2:], "narrow": small[:, :8], "noise": small[:, ::-1] ** 2, "small": small}
    frequencies = 500000.0 ** (-np.arange(64) / 64)
    planted["inv_freq"] = frequencies.astype(np.float32)
    for name, values in planted.items():
        np.save(folder / f"{name}.npy", values)
    angles = np.outer(np.arange(64), frequencies)
    np.savez(folder / "cache.npz", cos=np.cos(angles).astype(np.float32), sin=np.sin(angles).astype(np.float32))
    for path in MODELS.glob("*.json"):
        shutil.copy(path, folder)
    shutil.copytree(MODELS / "broken", folder / "broken")
    little = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 1}
    (folder / "little.json").write_text(json.dumps(little), encoding="utf-8")
    params = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 5e5, "use_scaled_rope": True}
    (folder / "params.json").write_text(json.dumps(params), encoding="utf-8")


def draw_nothing(line: str) -> str:
    """Where a command may draw, say that it shall not."""
    drawing = line.split(maxsplit=1)[0] in (
        "spectrum",
        "reconstruct",
        "faithfulness",
        "count-low-bin",
        "compare",
        "inspect",
    )
    return f"{line} --no-figure" if drawing else line


def reduce_document(value: object, key: str = "") -> object:
    """Keep of a value of JSON what a later release may not change.

    >>> reduce_document({"text": "Flat.", "share": 0.1234567890123456, "w": list(range(100))})["w"]["sum"]
    4950.0
    """
    if key in SENTENCES and (isinstance(value, str) or (isinstance(value, list) and key != "references")):
        return "a sentence" if isinstance(value, str) else "sentences"
    if isinstance(value, dict):
        if key in SENTENCES and key != "summary":
            return dict.fromkeys(value, "a sentence")
        return {name: reduce_document(item, name) for name, item in value.items()}
    if key == "findings" and isinstance(value, list) and any(isinstance(item, str) for item in value):
        return "sentences"
    if isinstance(value, list) and len(value) > MOST:
        return reduce_long_list(value, key)
    if isinstance(value, list):
        return [reduce_document(item, key) for item in value]
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return value


def reduce_long_list(values: list, key: str) -> dict[str, object]:
    """Keep of a long list its length, samples, and the sum and number of its finite members."""
    places = sorted({*range(5), *range(0, len(values), max(1, len(values) // 12)), len(values) - 1})
    numbers = [float(one) for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    kept: dict[str, object] = {"length": len(values), "places": places}
    kept["samples"] = [reduce_document(values[place], key) for place in places]
    kept["numbers"], kept["sum"] = len(numbers), float(f"{math.fsum(numbers):.12g}")
    kept["sum_of_squares"] = float(f"{math.fsum(one * one for one in numbers):.12g}")
    return kept


def reduce_table(text: str) -> dict[str, object]:
    """Keep of a CSV its columns, the number of its rows, and samples of them."""
    header, *rows = list(csv.reader(io.StringIO(text)))
    places = sorted({*range(min(5, len(rows))), *range(0, len(rows), max(1, len(rows) // 12)), *range(len(rows))[-1:]})
    samples = [
        ["" if name in SENTENCE_COLUMNS else cell for name, cell in zip(header, rows[place], strict=True)]
        for place in places
    ]
    return {"columns": header, "rows": len(rows), "places": places, "samples": samples}


def run(line: str, folder: Path) -> tuple[int, str]:
    """Run a command line in a process of its own; return its exit code and what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PE_SPECTRA_")}
    done = subprocess.run(
        [sys.executable, "-m", "pe_spectra", *shlex.split(line)],
        cwd=folder, env=environment | {"HF_HOME": str(folder)}, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    return done.returncode, done.stdout


def freeze_line(line: str, folder: Path) -> dict[str, object]:
    """What is kept of the answer of one command line."""
    code, text = run(f"{draw_nothing(line)} --json", folder)
    kept: dict[str, object] = {"line": line, "code": code, "document": reduce_document(json.loads(text))}
    if "--explain" not in line:
        kept["table"] = reduce_table(run(f"{draw_nothing(line)} --format csv", folder)[1])
    return kept


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        fill_folder(Path(name))
        frozen = [freeze_line(line, Path(name)) for line in list_lines()]
    packed = gzip.compress(json.dumps(frozen, allow_nan=False).encode(), mtime=0)
    FROZEN.write_bytes(packed)
    print(f"{len(frozen)} answers, {len(packed)} bytes")
