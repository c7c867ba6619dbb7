"""Measure what turns heads in every transformer of diffusers, and freeze it for configurations drawn by rule.

`tests/reference/measure.py diffusers VERSION` runs it; about five minutes on one core. It writes the table of the
release into pe_spectra/models/measured, one line for each class, and beside this script what the modules of drawn
configurations compute. Of a class that follows no law that is known here it prints why.
"""

import json
import pathlib
import warnings

import diffusers
import numpy as np
import torch

from tests.reference.diffusers.laws import Subject, fit
from tests.reference.diffusers.rotations import NEEDED, Recorder, list_models
from tests.reference.freezing import freeze, start_choosing, write_date

HERE = pathlib.Path(__file__).parent
MEASURED = HERE.parents[2] / "pe_spectra" / "models" / "measured"
#: Configurations of each class that are drawn beside its defaults.
COUNT = 3
HEADS = (64, 72, 80, 96, 112, 120, 128)


def draw(entry, choose):
    """Values of the keys that decide the rotation of a class."""
    config = {}
    if isinstance(entry.get("base"), list):
        config[entry["base"][0]] = choose(256.0, 1000.0, 10000.0, 123456.0)
    if "widths" in entry:
        config[entry["widths"][0]] = split(sum(entry["widths"][1]), len(entry["widths"][1]), choose)
    elif "sections" in entry:
        config[entry["sections"][0]] = [one // 2 for one in split(2 * sum(entry["sections"][1]), 3, choose)]
    elif len(entry["head"]) == 2:
        config[entry["head"][0]] = choose(*HEADS)
    else:
        config[entry["head"][0]] = entry["head"][3] * choose(*HEADS)
    if "factors" in entry:
        config[entry["factors"][0]] = [choose(1.0, 2.0, 3.5, 0.875) for _ in entry["factors"][1]]
    return config


def split(total, count, choose):
    """Even widths that add up to a total."""
    first = choose(8, 12, 16, 24)
    second = choose(*range(8, total - first - 4 * count, 4))
    if count == 2:
        return [first, total - first]
    return [first, *split(total - first, count - 1, choose)] if count > 3 else [first, second, total - first - second]


def describe(measured):
    """What is frozen of a rotation: the axis of each pair, -1 for one at rest, its frequency, and the layout."""
    frequencies = [float(f"{one:.8g}") for one in measured.frequencies]
    return {"axes": measured.map, "frequencies": frequencies, "layout": measured.layout}


def list_cases(name, subject, entry):
    """The defaults of a class, and drawn configurations that it takes."""
    choose = start_choosing(np.random.default_rng([20261128, len(name), sum(map(ord, name))]))
    for config in ({}, *(draw(entry, choose) for _ in range(COUNT))):
        whole = {"_class_name": name, **NEEDED.get(name, {}), **config}
        try:
            yield {"config": whole, **describe(subject.measure(config))}
        except Exception as error:
            yield {"config": whole, "refused": f"{type(error).__name__}: {error}"[:120]}


def measure():
    """The table of the release by class, and the cases."""
    recorder, table, unknown, cases = Recorder(), {}, {}, []
    for name, model in list_models().items():
        try:
            subject = Subject(name, model, recorder)
            entry = fit(subject)
        except Exception as error:
            unknown[name] = str(error)
            print("not measured:", name, type(error).__name__, error)
            continue
        table[name] = entry
        if entry:
            cases += list_cases(name, subject, entry)
    return table, unknown, cases


def main():
    """Measure and write."""
    warnings.simplefilter("ignore")
    diffusers.logging.set_verbosity_error()
    table, _, cases = measure()
    head = {"stack": "diffusers", "version": diffusers.__version__, "torch": torch.__version__.partition("+")[0]}
    freeze(HERE, head, cases)
    lines = [f'"{name}": {json.dumps(entry)}' for name, entry in sorted(table.items()) if entry]
    still = json.dumps(sorted(name for name, entry in table.items() if not entry))
    start = json.dumps({"version": diffusers.__version__, "date": write_date()})[:-1]
    text = f'{start}, "without": {still},\n"classes": {{\n' + ",\n".join(lines) + "\n}}\n"
    (MEASURED / f"diffusers-{diffusers.__version__}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
