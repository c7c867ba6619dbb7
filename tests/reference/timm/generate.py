"""Measure what turns queries and keys in every architecture of timm that has a rotary module, and freeze it.

`tests/reference/measure.py timm VERSION` runs it; about five minutes on one core. It writes the table of the release
into pe_spectra/models/measured, one line for each architecture, and beside this script the frequencies that each module
has at its own grid and at one of twice as many patches.
"""

import inspect
import json
import pathlib
import re
import warnings

import timm
import timm.layers.pos_embed_sincos as rotary
import torch

from tests.reference.diffusers.generate import MEASURED, describe
from tests.reference.diffusers.laws import SAME, Measured, find_base
from tests.reference.freezing import freeze, write_date

HERE = pathlib.Path(__file__).parent
ROPES = re.compile(r"create_rope_embed|RotaryEmbedding")
#: Arguments that say where a module is made, not what it computes.
PLACES = ("device", "dtype")


class Recorder:
    """Keeps the class of each rotary module that is made, with its arguments."""

    def __init__(self):
        """Watch every such class."""
        self.made, self.depth = [], 0
        for name, cls in vars(rotary).items():
            if inspect.isclass(cls) and "Rotary" in name and "__init__" in vars(cls):
                self._watch(cls, cls.__init__)

    def _watch(self, cls, old):
        def make(module, *given, **named):
            if not self.depth:
                found = inspect.signature(old).bind(module, *given, **named).arguments
                others = {key: value for key, value in found.items() if key not in ("self", "kwargs", "args")}
                self.made.append((type(module), others | found.get("kwargs", {})))
            self.depth += 1
            try:
                old(module, *given, **named)
            finally:
                self.depth -= 1

        cls.__init__ = make

    def build(self, name):
        """Give the first rotary module of an architecture, with its arguments and its grid; None without one."""
        self.made.clear()
        with torch.device("meta"):
            model = timm.create_model(name)
        if not self.made:
            return None
        cls, arguments = self.made[0]
        grid = (
            arguments.get("feat_shape") or getattr(getattr(model, "patch_embed", None), "grid_size", None) or (16, 16)
        )
        return cls, {key: value for key, value in arguments.items() if key not in PLACES}, tuple(grid)


def list_names():
    """Architectures of the Python files that speak of a rotary module."""
    folder = pathlib.Path(timm.__file__).parent / "models"
    files = [path.stem for path in sorted(folder.glob("*.py")) if ROPES.search(path.read_text(encoding="utf-8"))]
    return [name for file in files for name in timm.list_models(module=file)]


def measure(cls, arguments, grid, *, middle):
    """The rotation between neighbours of a grid of so many patches, in its corner or in the middle."""
    arguments = arguments | ({"feat_shape": [*grid]} if arguments.get("feat_shape") else {})
    module = cls(**arguments).eval()

    def give(_, points):
        sines, cosines = module.get_embed([*grid]).chunk(2, dim=-1)
        y, x = (one // 2 - 1 if middle else 0 for one in grid)
        at = [(int(point[0]) * grid[0] + y + int(point[1])) * grid[1] + x + int(point[2]) for point in points]
        return cosines[at], sines[at]

    return Measured(give, (1, *grid))


def describe_law(start, wide, grid):
    """The entry of an architecture in the table, from its own grid and from one of twice as many patches."""
    bases = [find_base(ladder) for ladder in start.list_ladders()]
    if None in bases or max(bases)[0] / min(bases)[0] - 1 > SAME:
        raise ValueError("a ladder that is not geometric, or two of them")
    entry = {"axes": [*start.axes], "layout": start.layout, "base": float(f"{bases[0][0]:.4g}")}
    entry["widths"] = ["", [2 * start.map.count(axis) for axis in range(len(start.axes))]]
    if start.map != sorted(start.map):
        if start.map != [i % len(start.axes) for i in range(len(start.map))]:
            raise ValueError("pairs of axes in an order that is not known")
        entry["order"] = "turns"
    ratio = (start.frequencies / wide.frequencies).mean()
    steps = [step for _, step in bases]
    if abs(ratio - 2) < SAME:
        entry["span"] = float(f"{steps[0] * grid[start.axes[0] == 'width']:.7g}")
    elif abs(steps[0] - 1) > SAME or abs(ratio - 1) > SAME:
        raise ValueError(f"coordinates in steps of {steps}")
    return entry


def find_law(cls, arguments, grid):
    """What is measured of both grids where coordinates are near 0, and so lose no digits, and the law of it."""
    sides = grid, tuple(2 * one for one in grid)
    for middle in (False, True):
        rows = {side: measure(cls, arguments, side, middle=middle) for side in sides}
        try:
            return rows, describe_law(*rows.values(), grid)
        except ValueError:
            if middle:
                raise
    return None


def main():
    """Measure and write."""
    warnings.simplefilter("ignore")
    recorder, table, learned, cases = Recorder(), {}, [], []
    for name in list_names():
        found = recorder.build(name)
        if found is None:
            continue
        cls, arguments, grid = found
        if "depth" in arguments:  # frequencies of each layer and head that are parameters
            learned.append(name)
            continue
        try:
            rows, table[name] = find_law(cls, arguments, grid)
        except (ValueError, AttributeError, TypeError, AssertionError) as error:
            print("not measured:", name, cls.__name__, arguments, type(error).__name__, error)
            continue
        cases += [{"config": {"architecture": name}, "grid": side, **describe(one)} for side, one in rows.items()]
    version = timm.__version__
    freeze(HERE, {"stack": "timm", "version": version, "torch": torch.__version__.partition("+")[0]}, cases)
    lines = [f'"{name}": {json.dumps(entry)}' for name, entry in sorted(table.items())]
    start = json.dumps({"version": version, "date": write_date(), "learned": learned})[:-1]
    text = f'{start},\n"classes": {{\n' + ",\n".join(lines) + "\n}}\n"
    (MEASURED / f"timm-{version}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
