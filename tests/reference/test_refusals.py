"""What `audit` says of configurations with something wrong in them, against what transformers made of each.

refusals.py of tests/reference/transformers drew each by rule, for every rotary class of a release, and kept the error
that the class, its rotary modules or its whole model raise. A configuration that is refused should be an error of the
audit, that of an older release of the audit by its reader, and one that loads should never be said to be refused. What
comes out otherwise is counted by cause.
"""

import collections
import gzip
import json
from functools import cache

import pytest

from pe_spectra.errors import FileError, UnusableError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import Refusal, find_stack
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import REFUSALS, load_table
from pe_spectra.models.stated.statement import NEWEST, OLDER
from tests.places import REFERENCE

RELEASES = (NEWEST, OLDER)
#: Of each release, each configuration with the error that was raised.
CASES = {
    release: json.loads(gzip.decompress((REFERENCE / "transformers" / f"refusals-{release}.json.gz").read_bytes()))[
        "cases"
    ]
    for release in RELEASES
}
#: Who reads for each: the newest is what a file is made for.
READERS = {NEWEST: None, OLDER: find_stack(f"transformers=={OLDER}", "--stack")}
#: Why some are refused without a word here, and how many of each class.
SILENT = {
    NEWEST: {
        "the class compares the width of its part that reads text with that of others": {"dots3_note_text": 1},
        "the class makes more layers of one than the file states": {"hrm_text": 1},
    },
    OLDER: {},
}
#: What a file has that states a width, or a number of heads, alone.
LACKING = "a width, or a number of heads, that the file leaves out beside the other"
#: What loads and is refused here: the key, and how often.
UNUSABLE = {
    NEWEST: {
        "rope_type": 2, "rope_parameters": 2, "hidden_size": 2, "num_attention_heads": 1, "num_hidden_layers": 1,
        LACKING: 19,
    },
    OLDER: {
        "num_attention_heads": 2, "original_max_position_embeddings": 1, "num_hidden_layers": 1, "rope_type": 1,
        "type": 1,
        LACKING: 15,
    },
}  # fmt: skip
#: What loads with a value that its key cannot mean, as `count_odd` counts.
ODD = {NEWEST: (219, 132, 95), OLDER: (54, 23, 130)}


def read(keys, release):
    """What a file states; of one with a value that the newest cannot use, as the older release reads it."""
    try:
        return read_configuration(keys, "config.json")
    except UnusableError:
        return read_configuration(keys, "config.json", release)


def judge(keys, release):
    """The errors of an audit by code, and their sentences; of a file that cannot be used, its error."""
    try:
        found = audit_configuration(read(keys, release), reader=READERS[release]).findings
    except FileError as error:
        return "file", (str(error),)
    errors = [one for one in found if one.level == "error"]
    return ("said" if errors else "silent"), tuple(one.message for one in errors)


@cache
def judge_all(release):
    """Each configuration with the error of transformers and what is said of it here."""
    return [(keys, error, *judge(keys, release)) for keys, error in CASES[release]]


def says_refused(said, release):
    """Whether one of the sentences says that a class of the release refuses the file."""
    return any(f"transformers {release[0]} refuses" in one for one in said)


def name_key(sentence):
    """The key of the file that cannot be used."""
    name = sentence.split(": ", 1)[1].split(" cannot")[0]
    if name.startswith("lacks"):
        return LACKING
    return "a key of a long name" if "... (" in name else name.split(".")[-1]


def count_odd(cases, release):
    """Of configurations with a value that cannot be used, in how many frequencies are computed with it, in how many
    layers that depend on it have none, and in how many nothing depends on it.
    """
    computed = without = unused = 0
    stack = READERS[release] or find_stack("transformers-5", "--stack")
    for stated in (stack.state(read(keys, release)) for keys in cases):
        parts = [one for one in (stated, *stated.parts) if one.scheme == "rotary"]
        turned = [stack.read(one, layer, None) for one in parts for layer in one.layers if layer.turns]
        faults = [one.reason if isinstance(one, Refusal) else one.fault for one in turned]
        odd = [
            one
            for one, fault in zip(turned, faults, strict=True)
            if " cannot be used (" in fault or " is out of range (" in fault
        ]
        found = [one for one in odd if not isinstance(one, Refusal)]
        said = any(finding.code == "unusable-value" for finding in stated.findings)
        computed += any(one.by_fault for one in found)
        without += bool(odd) and not found
        unused += (bool(odd) or said) and found == odd and not any(one.by_fault for one in found)
    return computed, without, unused


def count_cases(release):
    """How many were drawn, how many are refused, and how many of these without a word here."""
    refused = sum(error is not None for _, error in CASES[release])
    return len(CASES[release]), refused, sum(sum(models.values()) for models in SILENT[release].values())


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_nothing_that_loads_is_said_to_be_refused(release):
    false = [(keys, said) for keys, error, _, said in judge_all(release) if not error and says_refused(said, release)]
    assert not false


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_what_is_refused_is_said(release):
    silent = collections.Counter(
        keys["model_type"] for keys, error, how, _ in judge_all(release) if error and how == "silent"
    )
    assert silent == sum(map(collections.Counter, SILENT[release].values()), collections.Counter())
    _, refused, unsaid = count_cases(release)
    assert silent.total() == unsaid <= 0.01 * refused


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_what_loads_and_cannot_be_used_is_known(release):
    unused = [said[0] for _, error, how, said in judge_all(release) if not error and how == "file"]
    assert all("; " in one or "; looked for " in one for one in unused)  # what is accepted
    assert collections.Counter(map(name_key, unused)) == UNUSABLE[release]
    loaded = [keys for keys, error, how, _ in judge_all(release) if not error and how != "file"]
    assert count_odd(loaded, release) == ODD[release]


@pytest.mark.few
@pytest.mark.parametrize(
    ("release", "index"), [(release, index) for release in RELEASES for index in range(0, len(CASES[release]), 97)]
)
def test_some_of_each(release, index):
    keys, error = CASES[release][index]
    _, said = judge(keys, release)
    assert error is not None or not says_refused(said, release)


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_has_a_table_of_its_own(release):
    table = load_table(release + REFUSALS)
    assert table["version"] == release
    assert {"llama", "mistral", "qwen3"} <= table["classes"].keys()
