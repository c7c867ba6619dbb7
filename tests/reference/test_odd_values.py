"""What is read of values that their keys cannot mean, against what the modules of each release compute with them.

odd_values.py of tests/reference/transformers gave eighteen classes one such value at a time.
"""

import collections
import gzip
import json
import math

import pytest

from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import find_stack
from pe_spectra.models.stated.statement import NEWEST, OLDER
from tests.reference.test_drawn import FOLDER, is_same
from tests.reference.test_refusals import READERS, judge, read

#: Of each release how many come out alike, have no finite frequencies there and an error here, or are refused by both.
FOUND = {
    NEWEST: {"alike": 1309, "not finite": 68, "refused": 345, "other": 6},
    OLDER: {"alike": 1266, "not finite": 57, "refused": 399, "other": 6},
}
#: What comes out otherwise, and in which classes.
OTHER = {
    NEWEST: {
        "an odd number of channels in rotary_dim, which are refused here": {"codegen": 2, "gptj": 2},
        "a model changes the number of heads in its configuration while it is built": {"moonshine": 2},
    },
    OLDER: {
        "an odd number of channels in rotary_dim, which are refused here": {"codegen": 2, "gptj": 2},
        "a length before scaling of 0, which is taken for one that is not set": {"falcon": 1, "glm": 1},
    },
}


def load_cases(release):
    return json.loads(gzip.decompress((FOLDER / f"odd-{release}.json.gz").read_bytes()))["cases"]


def turn(keys, release):
    """The rotations of the layers that have pairs, by their types."""
    reader = READERS[release] or find_stack("transformers-5", "--stack")
    found = audit_configuration(read(keys, release), reader=reader)
    turned = {layer.statement.name: layer.rotation for layer in found.layers if layer.rotation is not None}
    return {name: one for name, one in turned.items() if one.frequencies is not None and len(one.frequencies)}


def compare(keys, result, release):
    how, said = judge(keys, release)
    if "error" in result:
        return "refused" if how != "silent" else "silent"
    if how == "file":
        return "not read"
    if not all(math.isfinite(one) for _, values, _ in result.values() for one in values):
        return "not finite" if said else "silent"
    turned, expected = turn(keys, release), {name: one for name, one in result.items() if one[0]}
    first = next(iter(turned.values()), None)
    same = bool(turned) == bool(expected) and all(
        is_same(turned.get(name, first), one) for name, one in expected.items()
    )
    return "alike" if same else "other"


@pytest.mark.slow
@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_odd_values_give_what_the_modules_compute_with_them(release):
    found = [(compare(keys, result, release), keys["model_type"]) for keys, result in load_cases(release)]
    assert collections.Counter(how for how, _ in found) == FOUND[release]
    other = collections.Counter(model for how, model in found if how == "other")
    assert other == sum(map(collections.Counter, OTHER[release].values()), collections.Counter())
