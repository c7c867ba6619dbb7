"""Several spectra of one call stand on one lattice, and say so once; one alone stands on its own."""

import math

import pytest

from pe_spectra import read_encoding
from pe_spectra.spectrum import choose_bandwidth, choose_lattice
from tests.documents import read_json

#: Encodings, the points of the lattice for all of them, and the bandwidth in its bins.
TOGETHER = {
    "sinusoidal:d=64 dft:d=16": (64, 4),
    "sinusoidal:d=16 ramp rope:d=256": (80, 4),
    "alibi:heads=2 sinusoidal:d=16": (256, 4),
    "sincos2d:d=8,height=4,width=6 sincos2d:d=8,height=5,width=5": (6, 1),
    "sincos2d:d=8,height=4,width=6 one-hot:d=20": (20, 4),
    "one-hot:d=20 one-hot:d=30": (20, 4),
}


@pytest.mark.parametrize("specs", TOGETHER)
def test_several_spectra_have_one_lattice(cli, specs):
    points, bandwidth = TOGETHER[specs]
    encodings = [read_encoding(spec) for spec in specs.split()]
    assert (choose_lattice(encodings), choose_bandwidth(encodings, points)) == (points, bandwidth)
    document = read_json(cli(f"spectrum -e {specs} --json --no-figure"))
    assert document["parameters"]["grid"] == points
    for member in document["spectra"]:
        assert member["grid"] == points
        assert member["omega"] == document["spectra"][0]["omega"]
        assert member["bandwidth"] == bandwidth or member["estimator"] == "lattice"
    said = [note for note in document["notes"] if "lattice of" in note]
    width = f"where bandwidth {bandwidth} is {bandwidth * 2 * math.pi / points:.3g} rad/position"
    assert said == [f"one lattice of {points} points for all, {width}; --grid chooses another"]
    assert not any("lattices differ" in note for note in document["notes"])


def test_who_asks_for_a_lattice_or_a_length_has_it(cli):
    line = "spectrum -e sinusoidal:d=16 dft:d=64 t5 --json --no-figure"
    asked, window = (read_json(cli(f"{line} {more}")) for more in ("--grid 40", "--length 20"))
    assert [member["grid"] for member in asked["spectra"]] == [40] * 3
    assert "one lattice of 40 points for all, where bandwidth 4 is 0.628 rad/position" in asked["notes"]
    assert [member["grid"] for member in window["spectra"]] == [20] * 3
    wide = read_json(cli(f"{line} --bandwidth 1 2"))
    assert [member["bandwidth"] for member in wide["spectra"]] == [1, 2] * 3
    said = "one lattice of 256 points for all, where bandwidth 1 is 0.0245 and 2 is 0.0491 rad/position"
    assert f"{said}; --grid chooses another" in wide["notes"]


def test_on_a_lattice_that_was_asked_for_all_have_one_bandwidth(cli):
    line = "spectrum -e sinusoidal:d=16 sincos2d:d=8,height=4,width=6 --grid 20 --json --no-figure"
    assert {member["bandwidth"] for member in read_json(cli(line))["spectra"]} == {4}


@pytest.mark.parametrize("spec", ["sinusoidal:d=16", "sincos2d:d=8,height=4,width=6", "ramp"])
def test_one_encoding_stands_on_its_own_lattice(cli, spec):
    notes = read_json(cli(f"spectrum -e {spec} --json --no-figure"))["notes"]
    assert not any("one lattice" in note for note in notes)


def test_real_positions_are_a_lattice_already(cli):
    document = read_json(cli("spectrum -e sinusoidal:d=8 mtan:d=8 --positions 0:10:0.25 --json --no-figure"))
    assert [member["grid"] for member in document["spectra"]] == [40, 40]
    assert not any("one lattice" in note for note in document["notes"])
