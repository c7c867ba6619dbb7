"""Objects, labels and SPECs of every encoding, and what is drawn by a seed."""

import dataclasses
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.encodings import GivenArray, HasFrequencies
from pe_spectra.encodings.nested import OtherEncodings
from pe_spectra.encodings.parameters import FileOfNumbers, format_value
from pe_spectra.limits import MAX_WIDTH
from pe_spectra.sources import build_encodings
from tests.laws.variants import ALL, every, find_last_position, has_arrays, list_members, show

# ----------------------------------------------------------------------------------- objects, labels, SPECs


@every()
def test_frozen_and_comparable(encoding):
    cls, name = type(encoding), encoding.accepts[0].keyword
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(encoding, name, getattr(encoding, name))
    same = cls(**encoding.given)
    assert same == encoding
    assert hash(same) == hash(encoding)
    with pytest.raises(TypeError):
        cls(*encoding.given.values() or (1,))


def test_different_variants_are_different():
    assert len(ALL) == len(set(ALL)) == len({(type(e), tuple(e.given.items())) for e in ALL})


@every()
def test_what_is_given_has_a_meaning_and_is_plain(encoding):
    keywords = {parameter.keyword: parameter for parameter in encoding.accepts}
    for keyword, value in encoding.given.items():
        assert value is not None
        assert isinstance(value, int | float | str | tuple | GivenArray)
        assert not isinstance(value, np.generic)
        parameter = keywords[keyword]
        if not isinstance(parameter.accepts, FileOfNumbers | OtherEncodings):
            assert parameter.accepts.parse(format_value(value), "x") == value


@every()
def test_parameters_are_json(encoding):
    assert json.loads(json.dumps(encoding.parameters, allow_nan=False)) == encoding.parameters
    assert set(encoding.parameters) == {p.name for p in encoding.accepts if p.keyword in encoding.given}


@every()
def test_the_label_tells_what_it_is(encoding):
    """A table from a file is called as the file is."""
    start = encoding.values.origin if encoding.name == "learned" and encoding.values else encoding.name
    assert encoding.label.startswith(start)
    assert "\n" not in encoding.label


def test_labels_tell_encodings_apart():
    """The label of a table from a file is the file and its size: `spec` says which rows and what spread."""
    labels = [e.label for e in ALL if e.name != "learned"]
    assert len(set(labels)) == len(labels)


@every(where=lambda e: not any(has_arrays(member) for member in list_members(e)))
def test_the_spec_names_the_encoding(encoding):
    assert build_encodings([encoding.spec], {}) == (encoding,)


@every()
def test_positions_are_described(encoding):
    count = min(9, find_last_position(encoding) + 1)
    said = [encoding.describe_position(s) for s in (*range(count), find_last_position(encoding))]
    for text in said:
        assert isinstance(text, str)
        assert text == text.strip() != ""
        assert "\n" not in text
    assert len(set(said[:count])) == count


@every()
def test_sizes_are_sizes(encoding):
    assert encoding.domain in ("positions", "lags")
    assert encoding.kernel_count >= 1
    assert encoding.default_length >= 1
    assert 2 <= encoding.default_grid <= MAX_WIDTH
    assert isinstance(encoding.notes, tuple)
    assert all(isinstance(note, str) and note and "\n" not in note for note in encoding.notes)
    if encoding.rows is not None:
        assert 1 <= encoding.default_length <= encoding.rows


@every(where=lambda e: e.shape is not None)
def test_a_grid_has_a_place_for_every_row(encoding):
    """sincos2d may have a row for CLS before its grid."""
    height, width = encoding.shape
    special = sum(member.name == "sincos2d" and member.cls == "yes" for member in list_members(encoding))
    assert height * width == encoding.rows - special


@every()
def test_the_lattice_of_the_paper_has_a_point_for_each_column(encoding):
    """As in the paper where there are frequencies; where rows end, and without frequencies, one for each position.

    An encoding whose width nobody chooses has a lattice of its own.
    """
    if isinstance(encoding, HasFrequencies) and encoding.rows is None:
        if "d" in (parameter.name for parameter in encoding.accepts):
            assert encoding.default_grid == encoding.d
        assert encoding.default_grid >= 2
    else:
        assert encoding.default_grid == max(2, encoding.default_length)


# ----------------------------------------------------------------------------------- what is drawn


def draw_another(encoding):
    """The same encoding with another seed: its own, or that of its first member that is drawn."""
    if "seed" in encoding.given:
        return type(encoding)(**{**encoding.given, "seed": encoding.seed + 1 if encoding.seed < 9 else 0})
    place = next(i for i, member in enumerate(encoding.of) if member.is_random)
    of = (*encoding.of[:place], draw_another(encoding.of[place]), *encoding.of[place + 1 :])
    return type(encoding)(**{**encoding.given, "of": of})


@every(where=lambda e: e.is_random)
def test_what_is_drawn_depends_on_the_seed_and_is_said_to_be_drawn(encoding):
    assert not np.array_equal(show(encoding), show(draw_another(encoding)))
    assert any("drawn at random" in note for note in encoding.notes), encoding.notes


@every(where=lambda e: not e.is_random and "seed" in e.given)
def test_a_seed_changes_nothing_where_nothing_is_drawn(encoding):
    """kerple whose numbers are all given, fope without noise."""
    assert encoding.name in ("kerple", "fope")
    assert_array_equal(show(encoding), show(draw_another(encoding)))
    assert not any("drawn at random" in note for note in encoding.notes)
