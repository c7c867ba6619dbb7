"""What `audit` says of configurations with something wrong in them, against what transformers made of each.

refusals.py of tests/reference/transformers drew each by rule, for every rotary class of a release, and kept the error
that the class, its rotary modules or its whole model raise. A configuration that is refused should be an error of the
audit, and one that loads should never be said to be refused. What comes out otherwise is counted by cause.
"""

import collections
import gzip
import json
from functools import cache

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.loading import REFUSALS
from pe_spectra.models.stated.statement import NEWEST
from tests.places import REFERENCE

CASES = json.loads(gzip.decompress((REFERENCE / "transformers" / f"refusals-{NEWEST}.json.gz").read_bytes()))["cases"]
#: Why some are refused without a word here, and how many of each class.
SILENT = {
    "the class compares the width of its part that reads text with that of others": {"dots3_note_text": 1},
    "a block of proportional scaling that the class does not use has no rope_theta in it": {"sapiens2": 1},
    "a scaling that the part refuses in this model alone": {"clvp": 1},
    "the class makes more layers of one than the file states": {"hrm_text": 1},
    "a block for a type of layer that there is not": {"pe_video": 1},
}
#: What loads and cannot be used here: the key, and how often. Of some values no angle can be computed (a base or a
#: factor of 0 or below, true, a text, lists of null), others are no length and no number of layers or heads.
UNUSABLE = {
    "long_factor": 87, "factor": 73, "rope_theta": 61, "original_max_position_embeddings": 41, "short_factor": 31,
    "partial_rotary_factor": 29, "max_position_embeddings": 22, "num_hidden_layers": 19, "head_dim": 7,
    "sliding_window": 6, "num_attention_heads": 6, "num_key_value_heads": 4, "a key of a long name": 4,
    "low_freq_factor": 4, "high_freq_factor": 3, "mscale": 3, "layer_types": 3, "hidden_size": 2,
    "qk_rope_head_dim": 2, "rope_type": 2, "rope_parameters": 2, "attention_factor": 1,
    "a width, or a number of heads, that the file leaves out beside the other": 19,
}  # fmt: skip


def judge(keys):
    """The errors of an audit by code, and their sentences; of a file that cannot be used, its error."""
    try:
        found = audit_configuration(read_configuration(keys, "config.json")).findings
    except FileError as error:
        return "file", (str(error),)
    errors = [one for one in found if one.level == "error"]
    return ("said" if errors else "silent"), tuple(one.message for one in errors)


@cache
def judge_all():
    """Each configuration with the error of transformers and what is said of it here."""
    return [(keys, error, *judge(keys)) for keys, error in CASES]


def name_key(sentence):
    """The key of the file that cannot be used."""
    name = sentence.split(": ", 1)[1].split(" cannot")[0]
    if name.startswith("lacks"):
        return "a width, or a number of heads, that the file leaves out beside the other"
    return "a key of a long name" if "... (" in name else name.split(".")[-1]


def count_silent():
    """How many are refused without a word here."""
    return sum(sum(models.values()) for models in SILENT.values())


@pytest.mark.slow
def test_nothing_that_loads_is_said_to_be_refused():
    false = [(keys, said) for keys, error, _, said in judge_all() if error is None and "5 refuses" in " ".join(said)]
    assert not false


@pytest.mark.slow
def test_what_is_refused_is_said():
    silent = collections.Counter(keys["model_type"] for keys, error, how, _ in judge_all() if error and how == "silent")
    assert silent == sum(map(collections.Counter, SILENT.values()), collections.Counter())
    assert silent.total() == count_silent()
    assert silent.total() <= 0.01 * sum(error is not None for _, error in CASES)


@pytest.mark.slow
def test_what_loads_and_cannot_be_used_is_known():
    found = collections.Counter(name_key(said[0]) for _, error, how, said in judge_all() if not error and how == "file")
    assert found == UNUSABLE


@pytest.mark.few
@pytest.mark.parametrize("index", range(0, len(CASES), 97))
def test_some_of_each(index):
    keys, error = CASES[index]
    _, said = judge(keys)
    assert error is not None or "5 refuses" not in " ".join(said)


def test_the_table_is_of_the_newest_release():
    table = load_table(REFUSALS)
    assert table["version"] == NEWEST
    assert {"llama", "mistral", "gemma3_text"} <= table["classes"].keys()
