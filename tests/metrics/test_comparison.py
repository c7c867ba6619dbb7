"""Encodings side by side: every metric or a reason, and the order they are put in."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Sinusoidal, compare_encodings, compute_spectrum, read_encoding
from pe_spectra.encodings import ENCODINGS, find_encoding
from pe_spectra.errors import InputError
from pe_spectra.metrics.common_ground import choose_length
from pe_spectra.metrics.compare import sort_comparisons
from pe_spectra.metrics.measured import METRICS, SIGNED, SpectrumMetrics
from tests import naive
from tests.making import give_table


def compare(spec, **options):
    return compare_encodings([read_encoding(spec)], **options)[0]


@pytest.mark.few(12)
@pytest.mark.parametrize("cls", [cls for cls in ENCODINGS if cls.name != "learned"], ids=lambda cls: cls.name)
def test_every_encoding_has_every_metric_or_a_reason(cls):
    (one,) = compare_encodings([cls()])
    assert tuple(one.values) == tuple(METRICS)
    for name, value in one.values.items():
        assert (value is None) == (name in one.notes), name
        assert value is None or math.isfinite(value)


def test_a_grid_is_compared_whole_and_its_length_says_so():
    whole, part = compare("sincos2d:d=16"), compare("sincos2d:d=16", length=50)
    assert whole.length == part.length == choose_length([whole.encoding]) == 196
    alike = set(METRICS) - set(SpectrumMetrics.quantities())
    assert {name: whole.values[name] for name in alike} == {name: part.values[name] for name in alike}


def list_catalogue():
    return [find_encoding("learned")(init="normal") if cls.name == "learned" else cls() for cls in ENCODINGS]


@pytest.mark.few(1)
@pytest.mark.parametrize("length", [1, 2, 7, 50])
def test_all_spectra_stand_on_one_lattice(length):
    found = [one.spectrum for one in compare_encodings(list_catalogue(), length=length) if one.spectrum is not None]
    assert len(found) > len(ENCODINGS) - 3
    assert {(one.grid, one.bandwidth, one.boundary) for one in found} == {(max(2, length), 4.0, "reflect")}
    assert all((one.omega == found[0].omega).all() for one in found)


def test_centroids_are_of_one_lattice_whatever_the_width():
    # Eq. (15) on 336 points, term by term
    compared = compare_encodings([Sinusoidal(d=d) for d in (16, 64, 256)], length=336)
    rounded = ((0.202, 0.270), (0.150, 0.199), (0.139, 0.183))
    for one, d, centroids in zip(compared, (16, 64, 256), rounded, strict=True):
        cut = compute_spectrum(Sinusoidal(d=d), grid=336).summary  # as `spectrum` has it on that lattice
        found = {"reflect": one.values["centroid"], "none": cut.centroid}
        for centroid, (boundary, value) in zip(centroids, found.items(), strict=True):
            assert value == pytest.approx(centroid, abs=5e-4)
            if d > 64:
                continue  # the slow sum takes long
            weights = naive.weights(naive.frequencies(d, 1e4), naive.masses(d), 336, 4.0, boundary)
            assert value == pytest.approx(sum(weights * 2 * np.pi * np.arange(169) / 336), rel=1e-12)


@pytest.mark.parametrize("beside", ["alibi:heads=2", "one-hot:d=40", "dft:d=8", "fire:heads=2"])
def test_numbers_do_not_depend_on_what_else_is_compared(beside):
    ladder = read_encoding("sinusoidal:d=16")
    (alone,) = compare_encodings([ladder], length=40)
    first, *_ = compare_encodings([ladder, read_encoding(beside)], length=40)
    assert first.values == alone.values
    assert first.spectrum.boundary == alone.spectrum.boundary == "reflect"


@pytest.mark.parametrize("spec", ["sinusoidal:d=16", "rope:d=16", "dft:d=40", "dft:d=16"])
def test_a_ladder_beside_its_own_table_has_the_same_spectrum(spec):
    ladder = read_encoding(spec)
    compared = compare_encodings([ladder, give_table(ladder.table(40))])
    assert [one.length for one in compared] == [40, 40]
    for name in set(SpectrumMetrics.quantities()) - {"mean_frequency"}:  # a table has no list of frequencies
        # of the table's weights below rounding nothing is known, and flatness is a product of all
        bound = {"abs": 0.01} if name == "flatness" else {"rel": 1e-9}
        assert compared[0].values[name] == pytest.approx(compared[1].values[name], **bound), name


def test_low_tones_are_low_whatever_the_width():
    s = np.arange(336.0)
    tones = np.concatenate([[np.sin(w * s), np.cos(w * s)] for w in (0.05, 0.1, 0.2, 0.4)]).T
    few, many = compare_encodings([give_table(tones), give_table(np.tile(tones, 8))])
    assert few.values["centroid"] == pytest.approx(many.values["centroid"], rel=1e-12)
    # each tone keeps its mean, but for the part of its Gaussian that is reflected at 0
    assert 0.1875 < few.values["centroid"] < 0.1875 + 0.0748 * np.sqrt(2 / np.pi)


def test_the_length_is_the_fewest_that_one_of_them_has():
    def choose(*specs):
        return choose_length([read_encoding(spec) for spec in specs])

    assert choose("sinusoidal", "alibi") == 128
    assert choose("sinusoidal", "ramp:length=300", "one-hot:d=256") == 256
    assert choose("sincos2d:d=16", "sinusoidal") == 196
    assert choose("sincos2d:d=16", "ramp") == 80
    with pytest.raises(InputError, match="beyond the rows"):
        compare_encodings([read_encoding("sincos2d:d=16")], length=197)


def test_random_values_stand_behind_all_others():
    specs = ["learned:init=normal,d=64,length=128", "sinusoidal:d=64", "dft:d=64"]
    compared = compare_encodings([read_encoding(spec) for spec in specs])
    ordered = sort_comparisons(compared, "stable_rank")
    assert [one.encoding.name for one in ordered] == ["sinusoidal", "dft", "learned"]
    ordered = sort_comparisons(compared, "min_separation")
    assert ordered[-1].encoding.name == "learned"


def test_what_is_a_function_of_the_lag_by_its_formula_is_so_to_the_full():
    assert compare("alibi").values["toeplitz_share"] == 1.0
    assert_allclose(compare("sinusoidal:d=32").values["toeplitz_share"], 1.0, rtol=1e-12)


# ----------------------------------------------------------------------------------- compare


@pytest.mark.parametrize("metric", SpectrumMetrics.quantities())
def test_signed_spectra_are_in_no_ranking(previous_heads, metric):
    rows = sort_comparisons(
        compare_encodings([read_encoding(s) for s in (previous_heads, "rope:d=8", "sinusoidal:d=8")]), metric
    )
    assert rows[-1].encoding.name == "t5"
    assert rows[-1].values[metric] is None
    assert rows[-1].notes[metric] == SIGNED
    assert all(row.values[metric] is not None for row in rows[:-1])
