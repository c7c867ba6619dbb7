"""Measure what each class with a table for the patches of a picture does with pictures of another size.

Adds `resized` to the tables of a release that tables.py has written. In its environment, on one core, some minutes:
ENV/bin/python tests/reference/transformers/resampling.py pe_spectra/models/measured/transformers-5.24.0-tables.json

A model of one layer is given a picture with two patches more each way, and what torch's `interpolate` is asked for is
watched: "always" where it runs and resamples its table, "asked" where it does so only with interpolate_pos_encoding,
"never" where it refuses both ways; then the mode of the resampling. Where no class of the model_type runs with a
picture of its own size, nothing is added.
"""

import contextlib
import json
import pathlib
import sys

import torch
from real_modules import be_patient
from tables import NEEDED, PATIENCE, build, list_models
from torch.nn import functional

KEYS = ("picture", "patch")
ASKED = {"interpolate_pos_encoding": True}


def run(model, size, **given):
    """The modes in which tables are resampled while a model sees a picture; None where it refuses it."""
    high, wide = (size, size) if isinstance(size, int) else size
    modes, interpolate = [], functional.interpolate

    def watch(values, *args, **kwargs):
        modes.append(kwargs.get("mode", "nearest") + " antialiased" * bool(kwargs.get("antialias")))
        return interpolate(values, *args, **kwargs)

    functional.interpolate = torch.nn.functional.interpolate = watch
    try:
        with torch.no_grad(), be_patient(PATIENCE):
            model(pixel_values=torch.zeros(1, getattr(model.config, "num_channels", 3), high, wide), **given)
    except Exception:
        return None
    finally:
        functional.interpolate = torch.nn.functional.interpolate = interpolate
    return modes


def enlarge(size, patch):
    """A size with two patches more, each way."""
    if isinstance(size, int):
        return size + 2 * (patch if isinstance(patch, int) else patch[0])
    sides = (patch, patch) if isinstance(patch, int) else patch
    return [enlarge(one, other) for one, other in zip(size, sides, strict=True)]


def measure(of, classes, table):
    """How the class resamples, and in which mode; None where it is not known."""
    for keys in NEEDED:
        for cls in classes[:6]:
            model = build(cls, of, keys, device="cpu")
            size, patch = (getattr(getattr(model, "config", None), str(table[key]), table[key]) for key in KEYS)
            usual = None if model is None else run(model, size)
            if usual is None:
                continue
            for how, given in (("always", {}), ("asked", ASKED)):
                modes = run(model, enlarge(size, patch), **given)
                if modes is not None and len(modes) > len(usual):
                    return [how, modes[0]]
                if modes is not None and not given:
                    return None  # it runs, and nothing of it was seen
            return ["never"]
    return None


def main():
    path = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:]
    text = path.read_text(encoding="utf-8")
    tables, models = json.loads(text)["tables"], {of.model_type: (of, classes) for of, classes in list_models().items()}
    lines = text.splitlines()
    for name, found in sorted(tables.items()):
        if not any("picture" in one and not one.get("fixed") for one in found) or (wanted and name not in wanted):
            continue
        resized = None
        with contextlib.suppress(Exception):
            resized = measure(*models[name], next(one for one in found if "picture" in one))
        print(name, resized, flush=True)
        for one in found:
            one.pop("resized", None)
            if resized is not None and "picture" in one and not one.get("fixed"):
                one["resized"] = resized
        at = next(number for number, line in enumerate(lines) if line.startswith(f'  "{name}": '))
        lines[at] = f'  "{name}": {json.dumps(found)}' + "," * lines[at].endswith(",")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
