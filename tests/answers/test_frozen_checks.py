"""What is said of frozen files is what they hold, and what is said of a check is what changed."""

import pytest

from pe_spectra.answers.frozen_checks import (
    ADDED,
    CHANGED,
    MISSING,
    CheckedEntry,
    answer_check,
    answer_frozen,
    describe_entry,
)
from pe_spectra.frozen.entries import EntryComparison, FrozenFinding, read_entry
from pe_spectra.frozen.frozen_file import FrozenFile
from tests.frozen.planting import CONFIGURATIONS, compare, load, take

NOTE = FrozenFinding(level="note", code="seam", message="A seam.")


def check(rows, *, accepted=(), version="0.2.0", **options):
    frozen = FrozenFile(entries={}, accepted=dict(accepted), version=version)
    return answer_check(rows, frozen, against="ref.json", tolerance=0.0, **options)


@pytest.mark.few(10)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_what_is_said_of_a_frozen_file_is_what_it_holds(name):
    entry = read_entry(take(load(name)), name)
    answer = answer_frozen({name: entry}, output="ref.json", accepted={})
    (row,) = answer.body.rows
    rotations = [one.frequencies for one in entry.list_rotations().values()]
    assert (row.layers, row.frequencies) == (len(entry.layers), sum(map(len, rotations)))
    assert set(row.holds.split(", ")) == {layer.scheme for layer in entry.layers.values()}
    assert set(row.findings) == {one.code for one in entry.findings if one.level != "note"}
    assert len(answer.notes) == len(row.findings)


#: Keys of Llama 3.1 that are changed, and what the sentence says.
CHANGED_KEYS = [
    ({"rope_theta": 10000.0}, "Another base (500000 in A, 10000 in B): breaks from position 4 on"),
    ({"rope_scaling": None}, "Scaling dropped in B (llama3 x8 in A): breaks from position 442 on"),
    ({"torch_dtype": "float16"}, "dtype is bfloat16 in A and float16 in B"),
    ({"max_position_embeddings": 65536}, "length is 131072 in A and 65536 in B; also trained_length and served_length"),
]


@pytest.mark.parametrize(("keys", "said"), CHANGED_KEYS)
def test_what_is_said_of_a_check_is_what_changed(keys, said):
    config = load("llama-3.1-8b")
    found = compare(take(config), take({**config, **keys}))
    row = describe_entry("config.json", found, {})
    assert row.text.startswith(said)
    named = {one.what for one in found.changes}
    assert all(what in row.text or what in row.text.lower() or what == "base" for what in named - {"scaling"})
    answer = check([row])
    assert answer.verdict.text == f"Not as frozen: config.json: {row.text}."
    assert answer.verdict.level == ("error" if "breaks" in said else "warning")
    assert set(answer.failed) == {
        *(f"config.json: {what} changed" for what in named),
        *(f"config.json: new finding {one.code}" for one in found.new),
    }
    assert check([row], updated=True).failed == []


def test_findings_are_told_by_their_codes():
    row = describe_entry("a", EntryComparison(new=(NOTE,)), {})
    assert (row.state, row.text) == (CHANGED, "new finding seam: A seam")
    accepted = describe_entry("a", EntryComparison(new=(NOTE,)), {"seam": "known"})
    assert accepted.state != CHANGED
    answer = check([accepted], accepted={"seam": "known"})
    assert (answer.verdict.text, answer.failed) == ("As frozen: a.", [])
    assert answer.notes == ("a: new finding seam is accepted: known",)
    assert answer.facts == (("accepted: seam", "known"),)
    assert (
        check([describe_entry("a", EntryComparison(gone=(NOTE,)), {})]).notes[0].startswith("a: finding seam is gone")
    )


def test_entries_that_are_missing_or_added():
    rows = [CheckedEntry(name="a"), CheckedEntry(name="b", state=MISSING), CheckedEntry(name="c", state=ADDED)]
    answer = check(rows)
    assert answer.verdict.text == "Not as frozen: b is no longer there."
    assert answer.failed == ["b: no longer there"]
    assert answer.columns["what"] == ["entry"]
    assert answer.notes == ("not in ref.json, and so not checked: c; --update adds it",)
    assert check([rows[0], rows[2]]).failed == []


def test_an_entry_is_a_column_where_there_are_several():
    rows = [CheckedEntry(name=name, state=MISSING) for name in ("a", "b")]
    assert check(rows).shown[0] == "entry"
    assert check(rows[:1]).shown[0] == "what"


def test_many_entries_are_counted_as_everywhere():
    rows = [CheckedEntry(name=f"{number}") for number in range(1000)]
    assert check(rows).verdict.text == "As frozen: all 1,000 entries of ref.json."


def test_another_version_is_said_and_what_it_did_not_know():
    answer = check([describe_entry("a", EntryComparison(unknown=("spin",)), {})], version="0.1.9")
    assert answer.facts == (("frozen by", "0.1.9"),)
    assert answer.body.frozen_by == "0.1.9"
    assert answer.notes == ("0.1.9, which froze it, did not know spin: not compared; --update adds it",)
