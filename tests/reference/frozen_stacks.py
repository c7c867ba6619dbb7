"""How a drawn configuration is read by a stack, and whether that is what was frozen of the release."""

import json

import numpy as np

from pe_spectra.models.stated.configuration import read_configuration


def read_drawn(stack, config):
    """What the stack makes of a configuration, which stays as it is."""
    stated = read_configuration(json.loads(json.dumps(config)), "config.json")
    return stack.read(stated, stated.layers[0], None)


def are_same(found, case, tolerance):
    """Whether the frequencies are those of the case: as many, and each to within a part of itself."""
    return len(found.frequencies) == len(case["frequencies"]) and np.allclose(
        found.frequencies, case["frequencies"], rtol=tolerance, atol=0
    )


def scales_alike(found, case):
    """Whether cosines and sines are multiplied by what the case has."""
    return abs(found.attention_scaling / case["attention"] - 1) <= 1e-6
