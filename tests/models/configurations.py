"""Configurations of models that tests begin with, and how they are read, audited and refused."""

import json

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.configuration import read_configuration
from tests.places import MODELS
from tests.refusing import catch

#: The shape of Llama 3 8B.
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64}


def change(**changes):
    """Llama 3 with other keys; None takes a key away."""
    return {key: value for key, value in {**LLAMA, **changes}.items() if value is not None}


def scale(length=32768, **keys):
    return change(max_position_embeddings=length, rope_scaling=keys)


def read(config):
    return read_configuration(config, "config.json")


def audit(config, **lengths):
    return audit_configuration(read(config), **lengths)


def turn(config, **lengths):
    """The rotations by layer type."""
    return {layer.name: layer.rotation for layer in audit(config, **lengths).layers}


def refuse(config):
    text = catch(read, config, kind=FileError, most=400)
    assert text.startswith("config.json: ")
    return text.removeprefix("config.json: ")


def load(name):
    return json.loads((MODELS / name).read_text(encoding="utf-8"))


# ----------------------------------------------------------------------------------- findings


def find_finding(config, code):
    return next((finding for finding in audit(config).findings if finding.code == code), None)


#: Heads of 128 channels.
WIDTHS = {"hidden_size": 512, "num_attention_heads": 4}


def state(**keys):
    """What a config.json states."""
    return read_configuration({**WIDTHS, **keys}, "config.json")


def find_message(configuration, code, **lengths):
    """The message of the one finding with a code; None where there is none."""
    found = [one.message for one in audit_configuration(configuration, **lengths).findings if one.code == code]
    assert len(found) <= 1
    return found[0] if found else None


def scale_as(name, **keys):
    """What a stack makes of a configuration."""
    configuration = state(**keys)
    return STACKS[name].read(configuration, configuration.layers[0], None)
