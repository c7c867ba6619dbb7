"""How a drawn configuration is read by a stack, and whether that is what was frozen of the release."""

import json

import numpy as np

from pe_spectra.models.stated.configuration import read_configuration


def read_drawn(stack, config, kind="all"):
    """What the stack makes of one kind of layers of a configuration, which stays as it is."""
    stated = read_configuration(json.loads(json.dumps(config)), "config.json")
    layers = [one for one in stated.layers if one.name == kind or kind == "all"]
    return stack.read(stated, layers[0], None)


def are_same(found, case, tolerance):
    """Whether the frequencies are those of the case: as many, and each to within a part of itself."""
    return len(found.frequencies) == len(case["frequencies"]) and np.allclose(
        found.frequencies, case["frequencies"], rtol=tolerance, atol=0
    )


def scales_alike(found, case):
    """Whether cosines and sines are multiplied by what the case has."""
    return abs(found.attention_scaling / case["attention"] - 1) <= 1e-6


def merge_axes(audit):
    """Frequency and axis of each pair of a head, from one layer for each axis or one for all of them."""
    axes = audit.layers[0].rotation.axes
    if axes is None or len(audit.layers) == 1:
        found = audit.layers[0].frequencies
        return [0] * len(found) if axes is None else list(axes), found.tolist()
    ladders = [iter(layer.frequencies.tolist()) for layer in audit.layers]
    turned = axes[: sum(len(layer.frequencies) for layer in audit.layers)]
    return [*turned], [next(ladders[axis]) for axis in turned]
