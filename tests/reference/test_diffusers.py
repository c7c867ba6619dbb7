"""What turns heads in diffusers, frozen by tests/reference/diffusers/generate.py, as audits say it."""

import json
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.axial_models import DIFFUSERS
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import read_measured
from tests.in_one import in_one
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import merge_axes

FOLDER = Path(__file__).parent / "diffusers"
FROZEN = thaw(FOLDER, "diffusers", DIFFUSERS)
BUILT = [case for case in FROZEN["cases"] if "refused" not in case]


def name_layout(audit):
    layer = audit.layers[0]
    whole = sum(one.rotary_dim for one in audit.layers) <= layer.head_dim
    return layer.layout if whole or len(audit.layers) == 1 else f"{layer.layout} of each axis"


def write(case):
    return json.dumps(case["config"])


@in_one("case", BUILT, ids=write)
def test_an_audit_gives_what_the_real_module_computes(case):
    audit = audit_configuration(read_configuration(dict(case["config"]), "config.json"))
    axes, frequencies = merge_axes(audit)
    assert axes == case["axes"]
    np.testing.assert_allclose(frequencies, case["frequencies"], rtol=1e-6, atol=0)
    assert name_layout(audit) == case["layout"]


def test_the_table_is_of_the_release_that_was_frozen():
    table, stack = read_measured(f"diffusers-{DIFFUSERS}"), STACKS["diffusers"]
    assert (stack.how, stack.version, stack.date) == ("measured", FROZEN["version"], FROZEN["date"])
    assert (table["version"], table["date"]) == (FROZEN["version"], FROZEN["date"])
    assert {case["config"]["_class_name"] for case in FROZEN["cases"]} == {*table["classes"]}


#: Refused for what has nothing to do with the rotation, and for sections beyond the pairs, which transformers takes.
NOT_SEEN = ("SanaWMTransformer3DModel", "Ideogram4Transformer2DModel")


def test_what_a_class_refuses_is_refused():
    """Widths of axes that are odd; two other refusals of 208 cases are named."""
    refused = [case["config"] for case in FROZEN["cases"] if "refused" in case]
    assert len(FROZEN["cases"]) >= 200
    passed = [config for config in refused if config["_class_name"] in NOT_SEEN]
    assert sorted(config["_class_name"] for config in passed) == sorted(NOT_SEEN)
    for config in passed:
        read_configuration(dict(config), "config.json")
    for config in refused:
        if config not in passed:
            with pytest.raises(FileError, match="even"):
                read_configuration(dict(config), "config.json")
