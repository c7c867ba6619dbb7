"""What turns heads in the architectures of timm, frozen by tests/reference/timm/generate.py, as audits say it."""

from pathlib import Path

import numpy as np

from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.axial_models import TIMM
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import read_measured
from tests.in_one import in_one
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import merge_axes

FROZEN = thaw(Path(__file__).parent / "timm", "timm", TIMM)


@in_one("case", FROZEN["cases"], ids=lambda case: f"{case['config']['architecture']}-{case['grid'][0]}")
def test_an_audit_gives_what_the_real_module_computes(case):
    """Between neighbours of the grid: coordinates that are scaled turn by span/n, and lose a digit; others by 1."""
    audit = audit_configuration(read_configuration(dict(case["config"]), "config.json"))
    axes, frequencies = merge_axes(audit)
    assert axes == case["axes"]
    assert audit.layers[0].layout == case["layout"]
    data = next(one.data for one in audit.findings if one.code == "several-axes")
    sizes = [case["grid"][data["axes"][axis] == "width"] for axis in axes]
    steps = np.array([1.0 if data["span"] is None else data["span"] / size for size in sizes])
    np.testing.assert_allclose(frequencies * steps, case["frequencies"], rtol=2e-6 if data["span"] is None else 4e-6)


def test_the_table_is_of_the_release_that_was_frozen():
    table, stack = read_measured(f"timm-{TIMM}"), STACKS["timm"]
    assert (stack.how, stack.version, stack.date) == ("measured", FROZEN["version"], FROZEN["date"])
    assert (table["version"], table["date"]) == (FROZEN["version"], FROZEN["date"])
    assert {case["config"]["architecture"] for case in FROZEN["cases"]} == {*table["classes"]}
    assert len(FROZEN["cases"]) >= 130
