"""Small, tiny and huge tables, formulas, and results that are read-only and the same every time."""

import json
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import inspect_table
from pe_spectra.errors import InputError
from pe_spectra.inspection import KINDS, resize_table
from pe_spectra.inspection.outliers import find_outliers
from pe_spectra.inspection.rows import compute_mean_row, measure_rows
from pe_spectra.inspection.table_portrait import compute_helix
from tests import planted
from tests.inspection.tables import inspect_codes, put
from tests.making import draw_table

# ----------------------------------------------------------------------------------- the portrait


def test_the_helix_is_the_principal_components():
    for size in ((100, 40), (600, 300)):
        table = planted.make_periodic(*size)
        helix = compute_helix(table)
        centred = table - table.mean(axis=0)
        left, singular, _ = np.linalg.svd(centred, full_matrices=False)
        assert_allclose(helix.shares, singular[:3] ** 2 / np.sum(singular**2), rtol=1e-6)
        assert_allclose(np.abs(helix.coordinates), np.abs(left[:, :3] * singular[:3]), atol=1e-4 * singular[0])
        assert (helix.coordinates.max(axis=0) >= -helix.coordinates.min(axis=0)).all()


def test_signals_are_those_of_slow_loops():
    table = planted.make_trained(40, 16)
    mean = table.mean(axis=0)
    signals = measure_rows(table, mean)
    for s in range(39):
        assert_allclose(signals.steps[s], np.linalg.norm(table[s + 1] - table[s]))
        a, b = table[s] - mean, table[s + 1] - mean
        assert_allclose(signals.centred_cosines[s], a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        jump = table[s + 1 : s + 5].mean(axis=0) - table[max(s - 3, 0) : s + 1].mean(axis=0)
        assert_allclose(signals.jumps[s], np.linalg.norm(jump))
    for s in range(37):
        assert_allclose(
            signals.twists[s], np.linalg.norm(table[s + 3] - 3 * table[s + 2] + 3 * table[s + 1] - table[s])
        )


def test_signals_do_not_depend_on_blocks(monkeypatch):
    table = planted.make_trained(100, 16)
    whole = measure_rows(table, table.mean(axis=0))
    monkeypatch.setattr("pe_spectra.exact._TERMS", 16 * 9)
    parts = measure_rows(table, table.mean(axis=0))
    for name in ("norms", "steps", "cosines", "centred_cosines", "jumps", "turns", "twists"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


def test_fading_curves_have_no_outliers():
    norms = np.exp(-np.linspace(0, 6, 200))
    table = norms[:, None] * planted.make_trained(200, 64, noise=0)
    assert len(find_outliers(table, np.linalg.norm(table, axis=1))[0]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e30])
def test_findings_do_not_depend_on_the_unit(scale):
    table = planted.plant_cls(planted.plant_seam_noise(planted.make_trained(512, 64)))
    assert inspect_codes(scale * table) == ["special-first-row", "seam"]


@pytest.mark.parametrize(
    "table",
    [
        np.eye(2),
        np.zeros((5, 3)),
        np.ones((40, 3)),
        np.arange(6.0).reshape(6, 1),
        np.zeros((64, 8)),
        planted.make_noise(2, 1),
        planted.make_noise(9, 2),
        planted.make_noise(3000, 1),
        planted.make_sinusoid(64, 2),
        planted.make_trained(17, 3),
    ],
    ids=lambda table: f"{table.shape[0]}x{table.shape[1]}",
)
def test_small_and_empty_tables_have_an_answer(table):
    result = inspect_table(table)
    assert all(value is None or np.isfinite(value) for value in result.metrics.values())
    assert {finding.code for finding in result.findings} <= set(KINDS)


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (np.ones(4), {}),
        (np.ones((1, 4)), {}),
        (np.array([[1.0, np.nan], [1.0, 2.0]]), {}),
        (np.eye(9), {"grid": (2, 4)}),
        (np.eye(9), {"grid": (3, 3), "prefix": 1}),
        (np.eye(9), {"prefix": 8}),
        (np.eye(9), {"dtype": "int8"}),
        (np.eye(9), {"row_offset": -1}),
    ],
)
def test_what_cannot_be_inspected_is_refused(table, options):
    with pytest.raises(InputError):
        inspect_table(table, **options)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-1000, -565, -532, 400, 980])
def test_a_power_of_two_is_in_the_lengths_alone(exponent):
    table = planted.plant_tail(planted.plant_cls(planted.make_periodic(256, 32)), 240)
    table[100] = 0
    plain, scaled = inspect_table(table), inspect_table(np.ldexp(table, exponent))
    assert [finding.code for finding in scaled.findings] == [finding.code for finding in plain.findings]
    assert {finding.code for finding in plain.findings} >= {"zero-rows", "untrained-tail", "special-first-row"}
    assert scaled.dominant_periods == plain.dominant_periods
    for one, other in zip(scaled.findings, plain.findings, strict=True):
        assert one.data.get("deviation") == (d if (d := other.data.get("deviation")) is None else np.ldexp(d, exponent))
    for name in ("norms", "steps"):
        assert_array_equal(getattr(scaled, name), np.ldexp(getattr(plain, name), exponent))
        assert not getattr(scaled, name).flags.writeable
    assert_array_equal(scaled.helix.coordinates, np.ldexp(plain.helix.coordinates, exponent))
    for name, value in plain.metrics.items():
        has_unit = name.startswith("norm_") or name == "step_median"
        assert scaled.metrics[name] == (np.ldexp(value, exponent) if has_unit else value), name


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-160, 1e300])
def test_tiny_and_huge_codes_are_not_zero(scale):
    plain, scaled = (inspect_table(factor * planted.make_sinusoid(256, 32)) for factor in (1.0, scale))
    assert [finding.code for finding in scaled.findings] == [finding.code for finding in plain.findings]
    assert [round(one.period, 6) for one in scaled.dominant_periods] == [
        round(one.period, 6) for one in plain.dominant_periods
    ]
    assert scaled.norms.all()
    assert_allclose(scaled.metrics["norm_median"], 4 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-250, 1.0, 1e300])
def test_a_row_of_tiny_numbers_beside_usual_ones_is_not_zero(scale):
    table = planted.make_trained(64, 16)
    table[20], table[30], table[31], table[40] = 1e-170, 1e-171, 1e-171, 0
    table[31, 0] = 2e-171
    result = inspect_table(scale * table if scale >= 1 else table)
    found = {finding.code: finding.rows for finding in result.findings}
    assert found["zero-rows"] == (40,)
    assert found["outlier-rows"] == (20, 30, 31)
    assert found["constant-rows"] == (20, 30)
    assert "duplicate-rows" not in found


@pytest.mark.slow
@pytest.mark.parametrize("plant", ["cls", "seam", "tail", "stray", "noise", "grid", "resized", "outlier", "padding"])
def test_of_formulas_only_facts_about_codes_are_stated(plant):
    table = {
        "cls": lambda: planted.plant_cls(planted.make_trained(256, 64)),
        "seam": lambda: planted.plant_seam_noise(planted.make_trained(512, 64)),
        "tail": lambda: planted.plant_tail(planted.make_trained(256, 64), 200),
        "stray": lambda: put(planted.make_trained(256, 64, 0, noise=0.05), 100, lambda row: -row),
        "noise": lambda: planted.make_noise(256, 64),
        "grid": lambda: planted.make_grid(14, 14, 64),
        "resized": lambda: resize_table(planted.make_trained(128, 256), 200),
        "outlier": lambda: put(planted.make_trained(256, 64), 100, lambda row: 9 * row),
        "padding": lambda: put(planted.make_trained(256, 64), slice(0, 2), lambda rows: 9 * rows[::-1]),
    }[plant]()
    assert inspect_codes(table) != []
    assert inspect_codes(table, is_trained=False) == []
    table = table.copy()
    table[60], table[70], table[80] = table[61], 0, 3.0
    table[:, 5], table[:, 6] = 0, 0.5
    table[70, 6] = 0
    found = inspect_table(table, is_trained=False)
    codes = {finding.code: finding.rows for finding in found.findings}
    assert codes == {"zero-rows": (70,), "zero-columns": (), "duplicate-rows": (60, 61)}
    assert found.rows_used == (0, len(table))


@pytest.mark.slow
def test_formulas_keep_their_periods_and_their_repetition():
    result = inspect_table(planted.make_dft(300, 128), is_trained=False)
    assert [finding.code for finding in result.findings] == ["constant-columns", "repeating-rows"]
    noise = inspect_table(planted.make_sinusoid(256, 32), is_trained=False, prefix=1)
    assert noise.dominant_periods
    assert noise.rows_used == (1, 256)
    zero_first = np.concatenate([np.zeros((1, 8)), planted.make_noise(49, 8)])
    assert inspect_codes(zero_first, is_trained=False, grid=(7, 7), prefix=1) == []


@pytest.mark.slow
def test_results_are_read_only_and_can_be_written_as_json():
    table = planted.plant_tail(planted.plant_cls(planted.plant_seam_noise(planted.make_trained(512, 64))), 480)
    result = inspect_table(table)
    for values in (result.norms, result.steps, result.cosines, result.helix.coordinates, result.channels.periods):
        assert not values.flags.writeable
    written = json.dumps([[finding.rows, dict(finding.data)] for finding in result.findings], allow_nan=False)
    assert "special" not in written
    with pytest.raises(TypeError):
        result.findings[0].data["count"] = 2


def test_every_code_is_explained():
    assert all(one.reasoning and one.formula for one in KINDS.values())
    codes = set()
    for table in (planted.make_noise(128, 64), planted.make_grid(14, 14, 64), planted.make_dft(128, 64)):
        codes |= set(inspect_codes(table))
    assert codes <= set(KINDS)


@pytest.mark.slow
def test_two_runs_give_the_same_numbers():
    table = planted.make_periodic(512, 768)
    first, second = inspect_table(table), inspect_table(table.copy())
    assert first.dominant_periods == second.dominant_periods
    assert dict(first.metrics) == dict(second.metrics)
    assert_array_equal(first.helix.coordinates, second.helix.coordinates)


# ----------------------------------------------------------------------------------- rates


@pytest.mark.parametrize("rows", [2, 3, 8, 40, 300])
def test_one_column_has_an_answer(rows):
    assert {finding.code for finding in inspect_table(np.ones((rows, 1))).findings} <= set(KINDS)
    assert inspect_table(np.sin(np.arange(rows)[:, None] * 0.3)).metrics["columns"] == 1


# ----------------------------------------------------------------------------------- few rows


def explain_by_lines(table):
    """The share of the variance that a line in each column explains, in fractions."""
    size, explained, total = len(table), Fraction(0), Fraction(0)
    places = [Fraction(2 * s - size + 1, 2) for s in range(size)]
    for column in np.asarray(table).T.tolist():
        numbers = [Fraction(x) for x in column]
        mean = sum(numbers) / size
        slope = sum(p * x for p, x in zip(places, numbers, strict=True))
        explained += slope**2 / sum(p * p for p in places)
        total += sum((x - mean) ** 2 for x in numbers)
    return float(explained / total)


@pytest.mark.parametrize("rows", [2, 3, 5, 7, 8])
def test_trend_of_few_rows_is_measured(rows):
    table = draw_table(rows, 3) + np.arange(rows)[:, None]
    metrics = inspect_table(table).metrics
    assert_allclose(metrics["trend_share"], explain_by_lines(table), rtol=1e-13)
    assert metrics["trend_and_periods_share"] >= metrics["trend_share"] * (1 - 1e-15)
    assert (metrics["sinusoid_per_channel_share"] is None) == (rows < 8)  # fewer have no periods


# ----------------------------------------------------------------------------------- constant columns


def test_mean_row_of_one_number_is_that_number():
    table = np.concatenate([np.full((1001, 1), 0.1), draw_table(1001, 2)], axis=1)
    mean = compute_mean_row(table)
    assert mean[0] == 0.1
    exact = [float(sum(map(Fraction, column)) / 1001) for column in table.T.tolist()]
    assert_allclose(mean, exact, rtol=0, atol=1e-15)
