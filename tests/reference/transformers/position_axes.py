"""Which axis of a position turns each pair, of every rotary class that knows several: measured in the real modules.

Adds `sections` and `axes_order` to the table of a release that `probe.py` has written; of a class that turns a grid by
coordinates which do not depend on the number of patches, `grid_span`, the angle from end to end of a frequency of 1.
In its environment:
python tests/reference/transformers/position_axes.py pe_spectra/models/measured/transformers-5.24.0.json
"""

import contextlib
import sys

import release_table
import torch
from real_modules import SWITCHES, Release, ask_apart


def list_orders(sections, pairs):
    """The axis of each pair, by the name of an order: time, height and width are 0, 1 and 2."""
    yield "blocks", ([axis for axis, size in enumerate(sections) for _ in range(size)] + [0] * pairs)[:pairs]
    # height at 1, 4, .. and width at 2, 5, .., as many as their sections, the rest is time
    yield "turns", [i % 3 if i < 3 * sections[i % 3] else 0 for i in range(pairs)]
    height, width, time = sections
    yield "height-width", ([*([1, 2] * max(height, width))[: height + width], *[0] * time] + [0] * pairs)[:pairs]


def measure_axes(module, **layer):
    """Which of three axes moves each pair, in the order of the pairs."""
    found = []
    for axis in range(3):
        ids = torch.zeros(3, 1, 2, dtype=torch.long)
        ids[axis, 0, 1] = 1
        _, sines = module(torch.zeros(1, 2, 8), position_ids=ids, **layer)
        found.append(sines.squeeze()[1].abs() > 0)
    moved = torch.stack(found)
    width = moved.shape[1] // 2
    doubled = torch.equal(moved[:, :width], moved[:, width:])
    moved = moved[:, :width] if doubled else moved[:, ::2]
    assert (moved.sum(axis=0) == 1).all()
    return moved.long().argmax(axis=0).tolist()


def build(release, cls):
    """The rotary modules of a class by default, or with the first switch with which it can be built."""
    for keys in SWITCHES:
        with contextlib.suppress(Exception):
            if modules := release.build(cls.from_dict(dict(keys))):
                return modules
    return {}


def list_measured(release, cls, sectioned):
    """Sections and order of each rotary module of a class that knows three axes; of another order the axes."""
    found = []
    for module in build(release, cls).values():
        sections, layer = getattr(module, "mrope_section", None), {}
        if isinstance(sections, dict):  # by type of layer
            name, sections = next(iter(sections.items()))
            layer["layer_type"] = name
        if not isinstance(sections, list | tuple) or len(sections) != 3:
            continue
        pairs = getattr(module, "_".join((*layer.values(), "inv_freq"))).shape[-1]
        if sectioned and sum(sections) != pairs:  # they must cover the pairs
            module.mrope_section = [pairs - 2 * (pairs // 3), pairs // 3, pairs // 3]
        axes = measure_axes(module, **layer)
        expected = list_orders(sections if layer else module.mrope_section, pairs)
        found.append((list(sections), next((way for way, listed in expected if listed == axes), axes)))
    return found


def measure_span(module):
    """The angle from one end of a grid to the other of a frequency of 1; None where it grows with the patches."""
    module.eval()  # in training it moves them at random
    patch, frequencies = module.config.patch_size, module.inv_freq
    if not isinstance(patch, int):
        return None
    steps = []
    for count in (8, 16):
        _, sines = module(torch.zeros(1, 3, patch, count * patch))
        angles = sines.squeeze().asin()[count // 2 - 1 : count // 2 + 1]  # on both sides of the middle
        steps.append((angles[1] - angles[0]).abs().max().item() * count)
    return round(steps[0] / frequencies[0].item(), 4) if abs(steps[0] / steps[1] - 1) < 1e-3 else None


def find_span(release, cls):
    """The span of a class whose rotary module is given a picture and has coordinates of its own, else None."""
    try:
        return measure_span(next(iter(build(release, cls).values()), None))
    except (TypeError, AttributeError, IndexError, RuntimeError, ValueError):
        return None  # it is given positions


def main():
    """Write what was measured into the table, and say a line of each class."""
    table, release = release_table.load(sys.argv[1]), Release()
    for name, cls in release.list_classes().items():
        if (known := table["classes"].get(name)) is None:
            continue
        found = dict(known)
        if known.get("axes") and (span := ask_apart(find_span, release, cls)) is not None:
            found["grid_span"] = span
            print(name, span)
        for sections, order in ask_apart(list_measured, release, cls, bool(known.get("sections"))):
            print(name, sections, order)
            if isinstance(order, list):
                continue  # one that has no name here
            found = {key: value for key, value in found.items() if not key.startswith("axis_")}
            found |= {} if found.get("sections") else {"axis_sections": sections}
            found |= {} if order == "blocks" else {"axis_order": order}
        table["classes"][name] = found
    release_table.save(table)


if __name__ == "__main__":
    main()
