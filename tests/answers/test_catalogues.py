"""The catalogue as an answer: its rows, and one encoding with or without the values of a SPEC."""

import pytest

from pe_spectra import Dft, read_encoding
from pe_spectra.answers.catalogues import answer_catalogue, answer_encoding
from pe_spectra.encodings import ENCODINGS, find_encoding


def test_a_row_for_each_encoding():
    answer = answer_catalogue()
    assert answer.rows == "all"
    assert len(answer.columns["name"]) == len(ENCODINGS)
    assert list(answer.columns) == ["name", "family", "summary", "views", "parameters", "formula", "source"]
    assert set(answer.shown) <= set(answer.columns)


@pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)
def test_an_encoding_offers_the_views_that_it_has(cls):
    (row,) = answer_encoding(cls).body.rows
    views = row.views
    assert views
    assert ("table" in views) == hasattr(cls, "table")
    assert ("bias" in views) == hasattr(cls, "bias")
    assert ("exact key" in views) == (cls.theorem is not None)


def test_values_stand_beside_the_parameters_of_a_spec_only():
    assert list(answer_encoding(Dft).columns) == ["parameter", "default", "meaning", "only", "accepts"]
    rope = read_encoding("rope:d=64,scaling=yarn,factor=4,original=4096")
    answer = answer_encoding(type(rope), rope)
    values = dict(zip(answer.columns["parameter"], answer.columns["value"], strict=True))
    assert (values["d"], values["scaling"], values["factor"], values["low_freq_factor"]) == ("64", "yarn", "4.0", "")
    (row,) = answer.to_document(None)["rows"]
    assert (row["spec"], row["encoding"]) == (rope.spec, rope.to_dict())
    (plain,) = answer_encoding(type(rope)).to_document(None)["rows"]
    assert "spec" not in plain
    assert "encoding" not in plain


def test_what_a_parameter_accepts_and_when():
    answer = answer_encoding(find_encoding("rope"))
    rows = {name: row for name, *row in zip(*answer.columns.values(), strict=True)}
    assert rows["layout"][-1] == "half, interleaved"
    assert rows["factor"][0] == "not set"
    assert rows["low_freq_factor"][2] == "scaling=llama3"
