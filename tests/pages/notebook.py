"""The notebook of the documentation: its cells run, and their outputs written back.

.venv/bin/python -m tests.pages.notebook
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tests.places import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def read_cells() -> list[dict]:
    """The cells of the notebook."""
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def show(value: object) -> dict[str, object]:
    """What a notebook shows of the last value of a cell, by type of content."""
    if isinstance(value, Figure):
        held = io.BytesIO()
        value.savefig(held, format="png", dpi=120)
        return {"image/png": base64.b64encode(held.getvalue()).decode(), "text/plain": ["<Figure>"]}
    shown: dict[str, object] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        shown["text/html"] = value._repr_html_().splitlines(keepends=True)
    return shown


def run_cells(cells: list[dict], folder: Path) -> list[dict]:
    """Run the cells one after another in a folder that has a checkpoint's table; return them with their outputs."""
    from safetensors.numpy import save_file

    table = np.random.default_rng(0).normal(size=(65, 16)).cumsum(axis=0).astype(np.float32)
    table[50:] = 0
    save_file({"pos_embed": table}, folder / "model.safetensors")
    names: dict[str, object] = {"__name__": "notebook"}
    done, count = [], 0
    with contextlib.chdir(folder):
        for cell in cells:
            if cell["cell_type"] == "code":
                count += 1
                cell = {**cell, "execution_count": count, "outputs": run_cell("".join(cell["source"]), names, count)}
            done.append(cell)
    return done


def run_cell(source: str, names: dict[str, object], count: int) -> list[dict]:
    """Run one cell; return what it prints, and its last value where that is an expression."""
    *body, last = ast.parse(source).body
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body=body, type_ignores=[]), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        else:
            exec(compile(ast.Module(body=[last], type_ignores=[]), "cell", "exec"), names)
    outputs: list[dict] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    if value is not None:
        shown = {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": show(value)}
        outputs.append(shown)
    return outputs


def write(cells: list[dict]) -> None:
    """Write the notebook."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    form = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    NOTEBOOK.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        write(run_cells(read_cells(), Path(place)))
