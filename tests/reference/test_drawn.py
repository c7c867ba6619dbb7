"""What we read from drawn configurations against what transformers computed of them, by the tables of its classes.

draw.py of tests/reference/transformers drew each configuration by rule, for every rotary class of a release, built the
real modules and kept their frequencies (float32), or the error that they raise. What is read otherwise is counted.
"""

import collections
import functools
import gzip
import json
from dataclasses import fields

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.keys import KEY_NOT_READ
from pe_spectra.models.stated.known_models import KnownModel, load_table
from pe_spectra.models.stated.statement import NEWEST
from tests.places import REFERENCE

FOLDER = REFERENCE / "transformers"


def load_cases(name):
    """Configurations, the length that is asked for, and what the real modules have or the error that they raise."""
    return json.loads(gzip.decompress((FOLDER / f"{name}-{NEWEST}.json.gz").read_bytes()))["cases"]


CASES = load_cases("drawn")
#: Why some come out otherwise, and how many of each class.
EXPLAINED = {
    "rotary modules are built, and no layer uses them": dict.fromkeys(("cohere2", "minicpmv4_7", "qwen4_exp_text"), 1),
    "a model changes the number of heads in its configuration while it is built": {"moonshine": 2},
}
#: The same of those that have each key in every place where a class may read it.
PLACED = {
    "a base inside of the block that the whole model gives its part goes before the one on top": {"glmasr": 1},
}
#: The same of models of several parts with keys on top.
ABOVE = {
    "heads on top are compared with the heads of keys and values that the class takes": {"dots3_note": 1},
}


def turn(keys, length):
    """Frequencies and attention factor by layer type, and whether an error is reported; None where it is refused."""
    try:
        stated = read_configuration(keys, "config.json")
    except FileError:
        return None, True
    found = {}
    for layer in stated.layers if stated.scheme == "rotary" else ():
        if layer.turns:
            rotation = STACKS["transformers-5"].read(stated, layer, length or 2)
            if isinstance(rotation, Refusal):
                return None, True
            found[layer.name] = rotation
    return found, any(finding.level == "error" for finding in stated.findings)


def pick(values):
    """Those of the frequencies that draw.py keeps."""
    last = len(values) - 1
    return values[sorted({0, min(1, last), last // 4, last // 2, 3 * last // 4, last} & {*range(len(values))})]


def is_same(rotation, expected):
    count, values, factor = expected
    return (
        len(rotation.frequencies) == count
        and np.allclose(pick(rotation.frequencies), values, rtol=3e-6, atol=0)
        and rotation.attention_scaling == pytest.approx(factor, rel=3e-6)
    )


@functools.cache
def turn_drawn():
    """What is read of each case that was drawn, once for all tests that look at it."""
    return [turn(keys, length) for keys, length, _ in CASES]


def judge(keys, length, result):
    """Whether the answer is that of the real modules."""
    return is_right(result, *turn(keys, length))


def is_right(result, found, is_error):
    """Whether what was read is what the real modules have."""
    if "error" in result:
        return is_error
    if found is None or bool(found) != bool(result):
        return False
    first = next(iter(found.values()), None)
    return all(is_same(found.get(name, first), expected) for name, expected in result.items())


def test_drawn_configurations_are_read_as_the_real_modules_have_them():
    """3,305 of 3,310; each of the others has its reason."""
    judged = [(keys, is_right(result, *turned)) for (keys, _, result), turned in zip(CASES, turn_drawn(), strict=True)]
    wrong = collections.Counter(keys["model_type"] for keys, right in judged if not right)
    assert wrong == {model: count for models in EXPLAINED.values() for model, count in models.items()}
    assert (len(CASES), sum(wrong.values())) == (3310, 5)


@pytest.mark.slow
def test_keys_are_read_in_the_places_where_the_class_reads_them():
    """The same keys for every class, on top, in blocks of either generation, and blocks that lack a key."""
    cases = load_cases("placed")
    wrong = collections.Counter(keys["model_type"] for keys, length, result in cases if not judge(keys, length, result))
    assert wrong == {model: count for models in PLACED.values() for model, count in models.items()}
    assert wrong.total() <= 0.005 * len(cases)
    silent = [not turn(keys, length)[1] for keys, length, result in cases if "error" in result]
    assert silent.count(True) <= 0.01 * len(silent)


@pytest.mark.slow
def test_keys_on_top_of_a_model_of_several_parts_are_read_where_its_class_passes_them_on():
    """608 of 609, of 87 classes."""
    cases = load_cases("above")
    wrong = collections.Counter(keys["model_type"] for keys, length, result in cases if not judge(keys, length, result))
    assert wrong == {model: count for models in ABOVE.values() for model, count in models.items()}
    assert (len(cases), len({keys["model_type"] for keys, *_ in cases})) == (609, 87)


def test_what_a_class_does_not_pass_on_is_reported_and_what_it_does_is_not():
    found = collections.defaultdict(list)
    for keys, _, result in load_cases("above"):
        # a length turns nothing, and with a part or a width in the file results differ for other reasons
        if not keys.keys() & {"hidden_size", "max_position_embeddings", "text_config"}:
            found[keys["model_type"]].append((json.dumps(result), any(map(is_of_unread_key, list_findings(keys)))))
    passing = {model for model, cases in found.items() if len({result for result, _ in cases}) > 1}
    assert passing == {"dots3_note", "hunyuan_vl", "paddleocr_vl", "qwen2_5_vl", "qwen2_vl"}
    said = {model: [is_said for _, is_said in cases] for model, cases in found.items()}
    # some parts do not read a base, a flat block or a width of a head from there either
    assert not [model for model, cases in said.items() if model not in passing and not any(cases)]
    assert not [model for model in passing if any(said[model][:3])]


def is_of_unread_key(finding):
    return finding.code == KEY_NOT_READ.code and finding.level == "error" and "passed on" in finding.message


@pytest.mark.slow
def test_no_key_is_said_to_be_refused_in_a_place_where_the_class_takes_it():
    said = [
        (keys, finding.message)
        for keys, _, result in load_cases("placed")
        if "error" not in result
        for finding in list_findings(keys)
        if finding.level == "error" and "5 refuses" in finding.message
    ]
    assert not said


def list_findings(keys):
    try:
        return read_configuration(keys, "config.json").findings
    except FileError:
        return ()


def test_none_that_is_built_is_refused_and_one_that_is_not_passes_silently():
    answers = [("error" in result, *turned) for (_, _, result), turned in zip(CASES, turn_drawn(), strict=True)]
    built = [found is None for is_refused, found, _ in answers if not is_refused]
    silent = [not is_error for is_refused, _, is_error in answers if is_refused]
    assert (built.count(True), len(built)) == (0, 2910)
    assert (silent.count(True), len(silent)) == (0, 400)


def test_null_is_read_as_each_class_takes_it():
    cases = load_cases("nulls")
    wrong = [keys for keys, result in cases if "error" not in result and not judge(keys, None, result)]
    silent = [keys for keys, result in cases if "error" in result and not judge(keys, None, result)]
    assert not wrong
    assert not silent


def test_the_cases_are_of_the_release_whose_table_is_read():
    drawn = {keys["model_type"] for keys, _, _ in CASES}
    table = load_table(NEWEST)
    assert len(drawn & {*table["classes"], *table["parts"]}) > 0.95 * len(drawn)


def test_a_release_is_measured_with_version_and_date():
    table = load_table(NEWEST)
    assert (table["stack"], table["version"]) == ("transformers", NEWEST)
    assert table["date"] >= "2026-11-24"
    assert not {name for found in table["classes"].values() for name in found} - {
        one.name for one in fields(KnownModel)
    }
