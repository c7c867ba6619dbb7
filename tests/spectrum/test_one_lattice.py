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
    bins = f"with bins of {2 * math.pi / points:.3g} rad/position"
    assert said == [f"one lattice of {points} points for all, {bins}; --grid chooses another"]
    assert not any("lattices differ" in note for note in document["notes"])


def test_who_asks_for_a_lattice_or_a_length_has_it(cli):
    line = "spectrum -e sinusoidal:d=16 dft:d=64 t5 --json --no-figure"
    asked, window = (read_json(cli(f"{line} {more}")) for more in ("--grid 40", "--length 20"))
    assert [member["grid"] for member in asked["spectra"]] == [40] * 3
    assert not any("one lattice" in note for note in asked["notes"])
    assert [member["grid"] for member in window["spectra"]] == [20] * 3
    wide = read_json(cli(f"{line} --bandwidth 1 2"))
    assert [member["bandwidth"] for member in wide["spectra"]] == [1, 2] * 3


@pytest.mark.parametrize("spec", ["sinusoidal:d=16", "sincos2d:d=8,height=4,width=6", "ramp"])
def test_one_encoding_stands_on_its_own_lattice(cli, spec):
    notes = read_json(cli(f"spectrum -e {spec} --json --no-figure"))["notes"]
    assert not any("one lattice" in note for note in notes)


def test_real_positions_are_a_lattice_already(cli):
    document = read_json(cli("spectrum -e sinusoidal:d=8 mtan:d=8 --positions 0:10:0.25 --json --no-figure"))
    assert [member["grid"] for member in document["spectra"]] == [40, 40]
    assert not any("one lattice" in note for note in document["notes"])
