"""Where keys stand in the text of a JSON file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.errors import FileError
from pe_spectra.files.json_keys import Region, find_key_regions, read_key_regions
from tests.places import MODELS

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
#: No dots in keys, so that no two ways through a document are called alike.
KEYS = st.text(st.characters(exclude_characters=".", exclude_categories=["Cs"]))
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20)


def list_paths(value, *names):
    """Every way to a key, as a reader of the document goes it."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        if isinstance(value, dict):
            yield (*names, name)
        yield from list_paths(inner, *names, str(name))


def cut(text, region):
    return text.split("\n")[region.line - 1][region.column - 1 : region.end - 1]


@pytest.mark.slow
@given(st.dictionaries(KEYS, VALUES), st.sampled_from([None, 0, 2]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_every_key_is_found_where_it_is(document, indent, is_ascii, end):
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii).replace("\n", end)
    found = find_key_regions(text)
    paths = list(list_paths(document))
    named = {".".join(path) or '""': path[-1] for path in paths}
    assert set(found) == {"", *named}
    for name, key in named.items():
        assert json.loads(cut(text, found[name]), strict=False) == key
    assert cut(text, found[""]) == "{"


def test_the_line_is_that_of_the_key_and_not_of_a_text_like_it():
    text = '{"a": "rope_theta",\n "b": ["rope_theta", {"x": "\\"rope_theta\\": 1"}],\n\t"rope_theta" : 1}'
    assert find_key_regions(text)["rope_theta"] == Region(line=3, column=2, end=14)


def test_keys_alike_in_other_objects():
    text = '{"rope_theta": 1, "text_config": {\n"rope_theta": 2}, "c": [\n{"rope_theta": 3}, {\n"rope_theta": 4}]}'
    found = find_key_regions(text)
    assert {path: one.line for path, one in found.items() if path.endswith("theta")} == {
        "rope_theta": 1,
        "text_config.rope_theta": 2,
        "c.0.rope_theta": 3,
        "c.1.rope_theta": 4,
    }


def test_of_two_keys_alike_in_one_object_the_last_counts():
    assert find_key_regions('{"a": 1,\n"a": 2}')["a"].line == 2


def test_a_key_that_is_written_with_escapes():
    assert find_key_regions('{"rope\\u005ftheta": 1}')["rope_theta"] == Region(line=1, column=2, end=19)


def test_a_mark_of_byte_order_takes_no_column(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_key_regions(tmp_path / "a.json")["a"] == Region(line=1, column=2, end=5)


def test_a_file_that_is_gone(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_key_regions(tmp_path / "none.json")


def test_keys_of_published_files():
    for path in MODELS.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        for name, region in read_key_regions(path).items():
            shown = cut(text, region)
            assert shown == "{" if not name else f".{name}".endswith(f".{shown[1:-1]}")
