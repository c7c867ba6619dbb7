"""What release 0.1.0 answered, key for key and value for value, is what is answered today."""

import copy
import gzip
import json
import math
import re
from operator import itemgetter

import pytest

from tests.reference.answers.freeze import FROZEN, draw_nothing, fill_folder, list_lines, reduce_document, reduce_table

ANSWERS = json.loads(gzip.decompress(FROZEN.read_bytes()))
#: Twelve digits are kept, and other releases of NumPy add up in another order.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: What magnifies that: the place of a flat maximum, and least squares over columns that nearly depend on each other.
#: With the lowest and the newest releases that are allowed they differ by up to 1.3e-7, 2e-9 and 2.6e-6.
MAGNIFIED = {
    "nearest_sinusoid_rho": 1e-6,
    "nearest_sinusoid_share": 1e-7,
    "shift_linearity_mean": 1e-5,
    "shift_linearity_worst": 1e-5,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with every file that the lines name."""
    folder = tmp_path_factory.mktemp("answers")
    fill_folder(folder)
    return folder


@pytest.fixture
def program(cli, folder, monkeypatch):
    """The program in that folder, without a cache of Hugging Face."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HOME", str(folder))
    return cli


def keep_above(error, bound):
    """Return, of a record, its bound where its error is not above that, else its error, which the bound is not."""
    return lambda row: row[error] if row[error] not in ("", None) and row[error] > row[bound] else row[bound]


#: Keys and columns that answers have since then: name -> the value, computed anew from the record that has it.
ADDED = {
    "start_position": lambda _: 0,
    "drift": lambda _: None,  # no line drifts in any of them
    # they cannot be had from their record: test_every_metric computes them from the rows
    "relative_separation": itemgetter("relative_separation"),
    "norm_rms": itemgetter("norm_rms"),
    "phase_error_bound": keep_above("max_phase_error", "phase_error_bound"),
}


def is_enlarged(frozen, found):
    """Whether a bound that left two of three roundings out has them now."""
    return found is None or frozen <= found <= 4 * frozen


#: Values of 0.1.0 that were wrong: path, without numbers of members -> why, and what now holds of old and new value.
CORRECTED = {
    f"$.models.findings.data.{key}": ("positions and frequencies are rounded, too, not only their product", is_enlarged)
    for key in ("phase_error", "phase_error_float32")
}


#: What 0.1.0 answered otherwise: line -> rows that are now those of another line, and why.
CHANGED = {
    "faithfulness -e alibi:heads=2 sinusoidal:d=8": (
        {1: "faithfulness -e sinusoidal:d=8 --length 256"},
        "encodings of one call have one length: 256 is the longest that is usual for one of them",
    ),
}


def change(answer, program):
    """Put what is answered on purpose in place of what was: rows, and a length that is now one number."""
    others, _ = CHANGED.get(answer["line"], ({}, ""))
    for place, line in others.items():
        found = reduce_document(json.loads(program(f"{draw_nothing(line)} --json").out))
        answer["document"]["rows"][place] = found["rows"][0]
        answer["document"]["parameters"]["length"] = found["parameters"]["length"]
        table = reduce_table(program(f"{draw_nothing(line)} --format csv").out)
        answer["table"]["samples"][place] = table["samples"][0]
    return answer


def list_differences(frozen, found, path="$"):
    """Where a value differs from the frozen one, and how; what came since must be in `ADDED`, and right."""
    _, is_right = CORRECTED.get(re.sub(r"\[\d+\]", "", path), (None, None))
    if is_right is not None:
        if not is_right(frozen, found):
            yield f"{path}: {frozen!r:.80} became {found!r:.80}"
    elif frozen in ("a sentence", "sentences"):
        if found != frozen:
            yield f"{path}: no {frozen}: {found!r:.80}"
    elif isinstance(frozen, dict):
        if isinstance(found, dict):
            for key in [key for key in found if key in ADDED and key not in frozen]:
                if not is_same(ADDED[key](found), found[key]):
                    yield f"{path}.{key}: {found[key]!r:.80} is not {ADDED[key](found)!r:.80}"
                found = {name: value for name, value in found.items() if name != key}
        if not isinstance(found, dict) or set(frozen) != set(found):
            yield f"{path}: keys {sorted(frozen)} are {sorted(found) if isinstance(found, dict) else found!r:.80}"
            return
        for key, value in frozen.items():
            yield from list_differences(value, found[key], f"{path}.{key}")
    elif isinstance(frozen, list):
        if not isinstance(found, list) or len(frozen) != len(found):
            yield f"{path}: {len(frozen)} members are {found!r:.80}"
            return
        for place, value in enumerate(frozen):
            yield from list_differences(value, found[place], f"{path}[{place}]")
    elif not is_same(frozen, found, MAGNIFIED.get(path.rpartition(".")[2], RELATIVE)):
        yield f"{path}: {frozen!r:.80} is {found!r:.80}"


def is_same(frozen, found, relative=RELATIVE):
    """Whether two plain values agree: types, words, and numbers but for the last digits."""
    numbers = (int, float)
    if isinstance(frozen, bool) or not isinstance(frozen, numbers):
        return type(frozen) is type(found) and frozen == found
    if isinstance(found, bool) or not isinstance(found, numbers):
        return False
    return math.isclose(frozen, found, rel_tol=relative, abs_tol=ABSOLUTE)


def read_cell(cell):
    """A cell of CSV as a number where it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def read_cells(table):
    rows = [zip(table["columns"], row, strict=True) for row in table["samples"]]
    samples = [{name: read_cell(cell) for name, cell in row} for row in rows]
    return {**table, "columns": [name for name in table["columns"] if name not in ADDED], "samples": samples}


def test_every_line_is_frozen():
    assert [answer["line"] for answer in ANSWERS] == list_lines()
    assert len(ANSWERS) >= 120
    kinds = {answer["document"]["kind"] for answer in ANSWERS}
    assert {"spectrum", "reconstruction", "faithfulness", "low-bin-count", "claims", "encodings"} <= kinds
    assert {"comparison", "inspection", "precision", "audit", "diff", "conformance", "context", "explanation"} <= kinds


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["line"] for answer in ANSWERS])
def test_answers_are_as_they_were(program, answer):
    answer = change(copy.deepcopy(answer), program)
    done = program(f"{draw_nothing(answer['line'])} --json")
    assert done.code == answer["code"], done.err
    assert list(list_differences(answer["document"], reduce_document(json.loads(done.out)))) == []
    if "table" in answer:
        table = reduce_table(program(f"{draw_nothing(answer['line'])} --format csv").out)
        assert list(list_differences(read_cells(answer["table"]), read_cells(table))) == []


@pytest.mark.parametrize(
    ("frozen", "found"),
    [
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1, 2], [1]),
        (1.0, 1.0 + 1e-8),
        (True, 1),
        ("kde", "KDE"),
        (None, 0.0),
        ("a sentence", None),
    ],
)
def test_a_difference_is_seen(frozen, found):
    assert list(list_differences({"x": frozen}, {"x": found}))


def test_a_long_list_is_seen_through():
    values = [float(n) for n in range(100)]
    frozen = reduce_document({"x": values})
    for place in (0, 57, 99):
        changed = [*values]
        changed[place] += 1e-3
        assert list(list_differences(frozen, reduce_document({"x": changed})))


def test_a_new_key_needs_its_value(monkeypatch):
    frozen, found = {"row": {"inside": 3, "total": 4}}, {"row": {"inside": 3, "total": 4, "outside": 1}}
    assert list(list_differences(frozen, found))
    monkeypatch.setitem(ADDED, "outside", lambda row: row["total"] - row["inside"])
    assert list(list_differences(frozen, found)) == []
    found["row"]["outside"] = 2
    assert list(list_differences(frozen, found)) == ["$.row.outside: 2 is not 1"]
