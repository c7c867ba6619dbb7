"""Encodings side by side: every metric or a reason, and the order they are put in."""

import math

import pytest
from numpy.testing import assert_allclose

from pe_spectra import compare_encodings, read_encoding
from pe_spectra.encodings import ENCODINGS
from pe_spectra.metrics import METRICS, SIGNED, SpectrumMetrics
from pe_spectra.metrics.compare import choose_lengths, sort_comparisons


def compare(spec, **options):
    return compare_encodings([read_encoding(spec)], **options)[0]


def test_every_encoding_has_every_metric_or_a_reason():
    for cls in ENCODINGS:
        if cls.name == "learned":
            continue
        (one,) = compare_encodings([cls()])
        assert tuple(one.values) == tuple(METRICS)
        for name, value in one.values.items():
            assert (value is None) == (name in one.notes), (cls.name, name)
            assert value is None or math.isfinite(value)


def test_a_grid_is_compared_whole_and_its_length_says_so():
    whole, part = compare("sincos2d:d=16"), compare("sincos2d:d=16", length=50)
    assert (whole.length,) == (part.length,) == choose_lengths([whole.encoding]) == (196,)
    assert whole.values == part.values


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
        compare_encodings([read_encoding(s) for s in (previous_heads, "alibi", "sandwich")]), metric
    )
    assert rows[-1].encoding.name == "t5"
    assert rows[-1].values[metric] is None
    assert rows[-1].notes[metric] == SIGNED
    assert all(row.values[metric] is not None for row in rows[:-1])
