"""All metrics together: definitions, values or notes, and tables that are none."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra import compare_encodings, read_encoding
from pe_spectra.errors import InputError
from pe_spectra.metrics import METRICS, Resolution, linearity, probes
from pe_spectra.metrics.kernel_shape import measure_kernel_shape
from pe_spectra.metrics.linearity import _measure_shift_linearity as measure_shift_linearity
from pe_spectra.metrics.measures import count_product_work
from pe_spectra.metrics.order import measure_kernel_monotonicity
from pe_spectra.metrics.probes import _measure_position_probe as measure_position_probe
from pe_spectra.metrics.resolution import _measure_table_resolution, measure_ranks
from pe_spectra.spectrum import compute_gram_kernel
from tests.making import draw_table
from tests.metrics.tables import (
    TABLES,
    each_table,
    measure_all,
    measure_distance_lag_spearman,
    measure_half_width,
    measure_sidelobe,
    measure_table_monotonicity,
    measure_translation_invariance,
    one_hot,
)

# ----------------------------------------------------------------------------------- all together


def test_every_metric_has_a_definition_a_direction_and_a_source():
    for name, metric in METRICS.items():
        assert name == name.lower()
        assert 10 < len(metric.text) < 100, name
        assert "\n" not in metric.text
        assert metric.better in {"higher", "lower", None}
        assert len(metric.source) > 7


@pytest.mark.parametrize(
    "table",
    [
        *TABLES.values(),
        np.ones((20, 3)),
        np.zeros((20, 3)),
        np.ones((1, 3)),
        draw_table(2, 2),
        1e300 * one_hot(20),
        1e-300 * one_hot(9),
    ],
)
def test_every_value_is_finite_or_has_a_note(table):
    for beyond in (None, table):
        found = measure_all(table, beyond=beyond)
        assert list(found.values) == list(METRICS)
        assert set(found.notes) == {name for name, value in found.values.items() if value is None}
        assert all(len(note) > 5 for note in found.notes.values())
        assert all(
            type(value) is float and math.isfinite(value) for value in found.values.values() if value is not None
        )
        for name, value in found.values.items():
            declared = METRICS[name]
            assert value is None or declared.minimum is None or value >= declared.minimum - 1e-9, name
            assert value is None or declared.maximum is None or value <= declared.maximum + 1e-9, name
            assert value is None or declared.above is None or value > declared.above, name


@each_table
def test_the_gathered_values_are_those_of_the_functions(table):
    found = measure_all(table).values
    kernel = compute_gram_kernel(table)
    assert found["kernel_half_width"] == measure_half_width(kernel)
    assert found["kernel_monotonicity"] == measure_kernel_monotonicity(kernel)
    assert found["table_monotonicity"] == measure_table_monotonicity(table)
    assert found["translation_invariance"] == measure_translation_invariance(table)
    assert found["distance_lag_spearman"] == measure_distance_lag_spearman(table)
    assert found["stable_rank_centred"] == measure_ranks(table).stable_rank_centred
    assert found["probe_rmse"] == measure_position_probe(table).probe_rmse
    assert found["shift_linearity_worst"] == measure_shift_linearity(table).shift_linearity_worst
    assert found["fisher_information_min"] == _measure_table_resolution(table).fisher_information_min


def test_an_exact_kernel_and_resolution_take_the_place_of_the_table_s():
    exact = Resolution(
        fisher_information_mean=2.0,
        fisher_information_min=2.0,
        cramer_rao_bound_mean=0.5,
        cramer_rao_bound_worst=0.5,
        is_exact=True,
    )
    found = measure_all(draw_table(20, 3), kernel=[1.0, 0.0, 0.9, 0.0], resolution=exact).values
    assert (found["kernel_half_width"], found["sidelobe_ratio"], found["sidelobe_lag"]) == (0.5, 0.9, 2.0)
    assert found["fisher_information_mean"] == 2.0


def test_a_kernel_alone_has_no_table():
    found = measure_all(kernel=[1.0, 0.2, 0.4, 0.1])
    assert found.values["sidelobe_lag"] == 2
    assert found.notes["probe_rmse"] == "the encoding has no table of position vectors"
    assert set(found.notes) == set(METRICS) - {
        "kernel_half_width",
        "sidelobe_ratio",
        "sidelobe_lag",
        "kernel_monotonicity",
    }


def test_two_runs_agree_to_the_bit_and_leave_the_table_alone():
    table = draw_table(60, 8).cumsum(axis=0)
    before = table.copy()
    assert dict(measure_all(table).values) == dict(measure_all(table).values)
    assert_array_equal(table, before)


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((2, 2, 2)), np.empty((0, 3)), [[1.0, math.nan]], [[math.inf]]])
def test_a_table_that_is_none_is_refused(wrong):
    for measure in (measure_all, measure_ranks, measure_translation_invariance, measure_position_probe):
        with pytest.raises(InputError):
            measure(wrong)


@pytest.mark.parametrize("wrong", [[], [[1.0]], [1.0, math.nan]])
def test_a_kernel_that_is_none_is_refused(wrong):
    for measure in (measure_half_width, measure_sidelobe, measure_kernel_monotonicity, measure_kernel_shape):
        with pytest.raises(InputError):
            measure(wrong)


# ----------------------------------------------------------------------------------- budgets


def test_a_metric_that_would_take_minutes_is_left_out_and_said(monkeypatch):
    table = np.random.default_rng(0).normal(size=(64, 4))
    assert measure_translation_invariance(table) is not None
    work = count_product_work(table)
    monkeypatch.setattr("pe_spectra.metrics.measures.MAX_PRODUCT_WORK", work - 1)
    assert measure_translation_invariance(table) is None
    found = linearity._measure_shift_linearity(table)
    assert found.shift_linearity_worst is None
    assert found.reasons["shift_linearity_mean"] == "shift linearity of a 64 x 4 table is beyond the budget of work"
    beyond = probes._measure_extrapolation(table[:32], table[32:])
    assert beyond.reasons == {
        "extrapolation_rmse": "the position probe of a 64 x 4 table is beyond the budget of work",
        "extrapolation_separation": "the smallest separation of a 64 x 4 table is beyond the budget of work",
    }


def test_a_slot_coarser_than_the_step_is_remarked():
    encoding = read_encoding("calendar:fields=minute+hour,minute_slot=15,step=5min")
    (one,) = compare_encodings([encoding], step_seconds=300)
    assert "3 positions in a row" in one.remarks[0]
    assert compare_encodings([encoding], step_seconds=900)[0].remarks == ()
