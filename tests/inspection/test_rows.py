"""Special, equal, zero and outlying rows, and dead columns: each planted truth is found with its rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import inspect_table
from pe_spectra.inspection.resize import resize_table
from pe_spectra.inspection.rows import find_equal_rows, find_jumping_columns
from tests import planted
from tests.inspection.tables import each_base, find_only, find_row_only, look_at_rows
from tests.making import draw_table

# ----------------------------------------------------------------------------------- rows


@pytest.mark.parametrize(("power", "noise"), [(0.1, 0), (0.25, 0), (0.25, 0.01), (0.5, 0), (0.5, 0.01), (0.75, 0.01)])
def test_a_root_that_starts_at_zero_has_no_odd_first_row(power, noise):
    """Its slope has no end at 0, so that its first step is the longest by far."""
    generator = planted.make_generator(7)
    table = np.arange(256)[:, None] ** power * generator.standard_normal(32)
    table += noise * generator.standard_normal(table.shape)
    assert [one.code for one in look_at_rows(table)[0]] == []
    table[0] = 6 * table[-1] * generator.choice([-1, 1], 32)
    assert [one.code for one in look_at_rows(table)[0]] == ["special-first-row"]


@pytest.mark.few(1)
@pytest.mark.parametrize("made", each_base())
def test_a_first_row_of_five_times_the_norm(table, seed):
    finding, anatomy = find_row_only(planted.plant_cls(table, 5.0, seed), "special-first-row")
    assert finding.rows == (0,)
    assert_allclose(finding.data["norm_ratios"][0], 5.0, rtol=0.02)
    assert (anatomy.first, anatomy.last) == (1, len(table))
    assert "Row 0 " in finding.message


@pytest.mark.slow
def test_a_first_row_of_the_usual_norm_that_is_unlike_the_others():
    finding, _ = find_only(planted.plant_cls(planted.make_trained(197, 768), 1.0), "special-first-row")
    assert abs(finding.data["cosines"][0]) < 0.2


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", ["mixed", "noise", "zero", "large"])
@pytest.mark.parametrize("made", each_base(seeds=(0, 1, 2)))
def test_a_padding_offset_of_two(table, seed, kind):
    finding, anatomy = find_row_only(planted.plant_padding(table, kind, seed), "padding-offset")
    assert finding.rows == (0, 1)
    assert finding.data["count"] == 2
    assert (anatomy.first, anatomy.last) == (2, len(table))


@pytest.mark.few(2)
@pytest.mark.parametrize("made", each_base(seeds=(0, 1)))
def test_two_equal_rows(table, seed):
    finding, _ = find_row_only(planted.plant_copies(table, 17, 40), "duplicate-rows")
    assert finding.rows == (17, 40)
    assert finding.data["groups"] == [[17, 40]]
    assert "17 and 40" in finding.message


@pytest.mark.slow
def test_several_groups_of_equal_rows():
    table = planted.plant_copies(planted.plant_copies(planted.make_trained(512, 64), 17, 40), 17, 300)
    table[401] = table[400]
    finding, _ = find_only(table, "duplicate-rows")
    assert finding.data["groups"] == [[17, 40, 300], [400, 401]]
    assert finding.data["count"] == 3


def test_equal_rows_are_exactly_equal_rows():
    table = planted.make_noise(300, 5)
    table[7] = table[200]
    table[8] = table[201]
    table[8, 4] = np.nextafter(table[8, 4], 1)
    table[9], table[10] = 0.0, -0.0
    assert find_equal_rows(table) == ((7, 200), (9, 10))


@pytest.mark.slow
def test_zero_and_constant_columns():
    table = planted.make_trained(256, 64)
    table[:, 3] = 0
    table[:, 10:13] = 0.02
    codes = {finding.code: finding.data["columns"] for finding in inspect_table(table).findings}
    assert codes == {"zero-columns": (3,), "constant-columns": ((10, 12),)}


def test_zero_rows_in_the_middle():
    table = planted.make_trained(256, 64)
    table[100:104] = 0
    finding, _ = find_only(table, "zero-rows", row_offset=10)
    assert finding.rows == ((110, 113),)


@pytest.mark.slow
def test_a_constant_row():
    table = planted.make_trained(256, 64)
    table[100] = 0.06
    codes = {finding.code: finding.rows for finding in inspect_table(table).findings}
    assert codes["constant-rows"] == (100,)


@pytest.mark.slow
def test_an_outlier_in_the_middle():
    table = planted.make_trained(512, 768)
    table[300] *= 4
    table[77] /= 5
    finding, _ = find_only(table, "outlier-rows")
    assert finding.rows == (77, 300)
    assert_allclose(finding.data["norm_ratios"], [0.2, 4.0], rtol=0.1)


@pytest.mark.slow
def test_a_stray_row():
    table = planted.make_trained(512, 768, noise=0.05)
    row = planted.make_noise(1, 768)[0]
    table[300] = row / np.linalg.norm(row) * np.linalg.norm(table[300])
    finding, _ = find_only(table, "stray-rows")
    assert finding.rows == (300,)


# ----------------------------------------------------------------------------------- constant columns


@pytest.mark.parametrize(("columns", "says"), [(1, "Column 2 is the"), (3, "Columns 2 to 4 are the")])
def test_constant_columns_are_named_in_their_number(columns, says):
    table = np.concatenate([draw_table(40, 2), np.ones((40, columns))], axis=1)
    (message,) = [one.message for one in inspect_table(table).findings if one.code == "constant-columns"]
    them = "it" if columns == 1 else "them"
    assert message == f"{says} same in every row: no position can be told by {them}."


# ----------------------------------------------------------------------------------- equal rows, noise


def find_codes(table):
    return [one.code for one in inspect_table(table).findings]


def test_a_part_that_is_there_twice_is_no_period():
    table = draw_table(80, 16)
    table[10:20] = table[:10]
    (found,) = [one for one in inspect_table(table).findings if one.code.startswith(("dupl", "rep"))]
    assert found.code == "duplicate-rows"
    assert found.message.startswith("10 rows are equal to an earlier row (first 0 and 10)")


@pytest.mark.few(1)
@pytest.mark.parametrize("period", [10, 44, 60])
def test_whole_table_that_repeats_is_a_period(period):
    once = draw_table(period, 16)
    assert "repeating-rows" in find_codes(np.concatenate([once] * 8)[:80])
    assert "seam" not in find_codes(np.concatenate([planted.make_trained(96, 16)[:period]] * 8)[:80])
    once[3] = 0  # rows of zeros are no codes that are equal, and repeat as well
    assert "repeating-rows" in find_codes(np.concatenate([once] * 8)[:80])


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 5, 40])
@pytest.mark.parametrize("period", [2, 3, 17])
def test_two_rows_that_come_again_in_their_order_are_a_period(period, count):
    """Rows of one number each: +1, -1, ... repeats every 2; one row that comes again is a copy."""
    once = np.linspace(1, -1, period)[:, None] * np.ones(4)
    table = np.concatenate([once] * (2 + count))[: period + count]
    (found,) = [one for one in inspect_table(table).findings if one.code in ("duplicate-rows", "repeating-rows")]
    assert found.code == "repeating-rows"
    assert f" equal to the row {period} before" in found.message
    copied = table[: period + 1]
    assert "repeating-rows" not in find_codes(copied)


def test_deviation_of_noise_is_about_the_mean_row():
    noise = draw_table(64, 32)
    (plain,) = inspect_table(noise).findings
    (moved,) = inspect_table(noise + 10 * draw_table(1, 32, seed=1)).findings
    total = sum((x - sum(column) / 64) ** 2 for column in noise.T.tolist() for x in column)
    assert_allclose([plain.data["deviation"], moved.data["deviation"]], (total / (63 * 32)) ** 0.5, rtol=1e-12)
    assert "deviation 1, as before" in plain.message
    assert "deviation 1 about a mean row." in moved.message


@pytest.mark.slow
def test_equal_rows_in_the_middle_have_no_edge_to_compare():
    walk = 3 + np.cumsum(draw_table(45, 64), axis=0)[5:]
    for method, known in (("nearest", False), ("bilinear", True)):
        found = inspect_table(resize_table(walk, 128, method=method)).findings
        (message,) = [one.message for one in found if one.code == "interpolated"]
        assert ("steps at the edge" in message) == known
        assert "inf" not in message


def test_what_jumps_in_columns_that_always_jump_is_no_finding():
    places = np.arange(256.0)[:, None]
    table = np.hstack([np.mod(places, period) / period for period in (9.5, 14.2, 23.7)] + [places / 256])
    assert find_jumping_columns(table).tolist() == [True, True, True, False]
    assert not inspect_table(table).findings


def test_a_seam_beside_columns_that_always_jump_is_found():
    places = np.arange(256.0)[:, None]
    steady = np.sin(places * np.linspace(0.02, 0.2, 16))
    steady[128:] += 2
    table = np.hstack([np.mod(places, 9.5) / 9.5, steady])
    assert [finding.rows for finding in inspect_table(table).findings] == [(127, 128)]


def test_stairs_of_rounding_do_not_jump():
    table = np.rint(20 * np.sin(np.arange(512.0)[:, None] * np.geomspace(0.003, 0.3, 8)))
    assert not find_jumping_columns(table).any()


@pytest.mark.few(3)
@pytest.mark.parametrize("count", [1, 2, 4, 6])
@pytest.mark.parametrize("factor", [0.3, 1.0, 2.0])
def test_up_to_four_random_rows_at_the_end_may_be_tokens_and_more_are_untrained(count, factor):
    table = planted.make_trained(256, 64, 3)
    rows = np.random.default_rng(count).normal(size=(count, 64))
    rows *= factor * np.median(np.linalg.norm(table, axis=1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    table[-count:] = rows
    code = "special-last-rows" if count <= 4 else "untrained-tail"
    assert code in {finding.code for finding in inspect_table(table).findings}
    assert ("untrained-tail" in {finding.code for finding in inspect_table(table).findings}) == (count > 4)
