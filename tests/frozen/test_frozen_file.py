"""The frozen file: readable, stable, and refused in one line where it is none."""

import json

import pytest

from pe_spectra.errors import FileError
from pe_spectra.frozen.frozen_file import FORM, FrozenFile, read_frozen, write_frozen
from tests.frozen.planting import load, take
from tests.refusing import catch

ENTRY = take(load("llama-3.1-8b"))


def test_what_is_read_is_what_was_written(tmp_path):
    frozen = FrozenFile(entries={"b": ENTRY, "a": {"é": 1}}, accepted={"seam": "as published"})
    text = write_frozen(frozen)
    assert list(json.loads(text)["entries"]) == ["a", "b"]
    (tmp_path / "ref.json").write_text(text, encoding="utf-8")
    assert read_frozen(tmp_path / "ref.json", "--against") == FrozenFile(
        entries=json.loads(text)["entries"], accepted={"seam": "as published"}
    )


def test_the_order_in_which_things_are_named_does_not_matter():
    one, other = ({"a": ENTRY, "b": {}}, {"b": {}, "a": ENTRY})
    assert write_frozen(FrozenFile(entries=one)) == write_frozen(FrozenFile(entries=other))


def test_a_person_can_read_it():
    lines = write_frozen(FrozenFile(entries={"config.json": ENTRY})).splitlines()
    assert '              ["0x1.a115829457fbep-1", 0.8146172338565447],' in lines
    assert '            "layout": "half",' in lines
    assert len(lines) < 140


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"form": None}, f"is no frozen file; one of the form {FORM}, which freeze writes, is accepted"),
        ({"form": "pe-spectra/frozen/2"}, f"is of the form pe-spectra/frozen/2; one of the form {FORM}, "),
        ({"more": 1}, "has the key more, which is not known; accepted: form, version, accepted, entries"),
        ({"entries": {}}, "lacks a version, entries, or reasons of what is accepted; freeze writes them"),
        ({"entries": []}, "lacks a version, entries, or reasons"),
        ({"version": 1}, "lacks a version, entries, or reasons"),
        ({"accepted": {"seam": ""}}, "lacks a version, entries, or reasons"),
        ({"accepted": ["seam"]}, "lacks a version, entries, or reasons"),
    ],
)
def test_what_is_no_frozen_file(tmp_path, change, said):
    document = {"form": FORM, "version": "0.2.0", "accepted": {}, "entries": {"a": {}}, **change}
    (tmp_path / "ref.json").write_text(json.dumps(document), encoding="utf-8")
    text = catch(read_frozen, tmp_path / "ref.json", "--against", kind=FileError, most=500)
    assert said in text


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "ref.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    assert "is no frozen file" in catch(read_frozen, tmp_path / "ref.json", "--against", kind=FileError, most=500)
    assert "no such file" in catch(read_frozen, tmp_path / "none.json", "--against", kind=FileError)
