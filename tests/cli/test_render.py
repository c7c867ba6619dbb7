"""Answers as text: written part by part, as the libraries write them whole."""

import csv
import io
import json
import math

import numpy as np
import pytest

from pe_spectra import Sinusoidal, compute_spectrum
from pe_spectra.cli import render as render_module
from pe_spectra.cli.render import _write_csv, _write_json
from pe_spectra.faces import simplify


@pytest.mark.parametrize("part", [1, 2, 3, 1 << 12])
def test_parts_of_json_are_the_whole(part, monkeypatch):
    monkeypatch.setattr(render_module, "PART", part)
    numbers = [0, 1.5, -1e-300, None, True, 'a"b\u00e9', [], {}, [1.0, [2, 3, 4]], {"x": [1, 2, 3, 4], "y": {}}]
    for document in (numbers, {"all": numbers, "é": {"deep": numbers[::-1]}}, {}, [], 1.0, "text", [[]] * 7):
        assert "".join(_write_json(document)) == json.dumps(document, allow_nan=False)


def test_a_member_of_a_list_is_one_text():
    """An audit of thousands of files has as many members, each of many keys."""
    members = [{"a": [1, 2, 3], "b": {"c": None, "d": "e"}}] * 9
    assert len(list(_write_json({"files": members}))) <= len(members) + 4


@pytest.mark.parametrize("part", [1, 3, 1 << 12])
def test_arrays_and_results_are_written_as_their_lists(part, monkeypatch):
    monkeypatch.setattr(render_module, "PART", part)
    found = compute_spectrum(Sinusoidal(d=8))
    document = {"rows": np.arange(5), "x": np.array([0.1, math.nan, math.inf]), "found": (found, found), "one": found}
    assert "".join(_write_json(document)) == json.dumps(simplify(document), allow_nan=False)
    assert json.loads("".join(_write_json(document)))["x"] == [0.1, None, None]


@pytest.mark.parametrize("part", [1, 3, 1 << 12])
def test_numbers_in_csv_are_those_of_its_module(part, monkeypatch):
    monkeypatch.setattr(render_module, "PART", part)
    drawn = np.random.default_rng(0).normal(size=10) * 10.0 ** np.arange(-300, 300, 60)
    numbers = {"k": list(range(10)), "x": drawn.tolist()}
    for columns in (numbers, {"x": [0.0]}, {"x": []}, {"k": [1, 2], "are": [True, False]}, {"k": [1, None]}):
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([columns, *zip(*columns.values(), strict=True)])
        assert "".join(_write_csv(columns)) == stream.getvalue()
