"""Tails without training and seams between trainings: found at their rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.row_findings import group_rows
from tests import planted
from tests.inspection.tables import each_base, find_only, find_row_only, inspect_codes, look_at_rows

# ----------------------------------------------------------------------------------- tail, seams


@pytest.mark.parametrize("made", each_base())
def test_an_untrained_tail(table, seed):
    size = len(table)
    for start in (size - size // 8, size // 2, size - 3):
        finding, anatomy = find_row_only(planted.plant_tail(table, start, seed), "untrained-tail")
        assert finding.rows == group_rows(range(start, size))
        assert finding.data["trained_rows"] == start
        assert_allclose(finding.data["deviation"], 0.02, rtol=0.2)
        assert (anatomy.first, anatomy.last) == (0, start)


def test_a_tail_of_zeros():
    table = planted.make_trained(512, 64)
    table[400:] = 0
    finding, _ = find_only(table, "untrained-tail")
    assert finding.rows == ((400, 511),)
    assert finding.data["kind"] == "zero"


SEAMS = {
    "jump": planted.plant_seam_jump,
    "offset": planted.plant_seam_offset,
    "norm": planted.plant_seam_norm,
    "noise": planted.plant_seam_noise,
}


@pytest.mark.parametrize("kind", SEAMS)
@pytest.mark.parametrize("made", each_base(sizes=[(512, 768), (1024, 768), (512, 128)]))
def test_a_seam_at_row_127(table, seed, kind):
    finding, _ = find_row_only(SEAMS[kind](table, row=127, seed=seed), "seam")
    assert finding.rows == (127, 128)
    assert finding.data["length"] == 128
    assert "127 and 128" in finding.message
    if kind == "norm":
        assert_allclose(finding.data["norm_ratio"] or 0.6, 0.6, atol=0.1)


@pytest.mark.parametrize("made", each_base(sizes=[(197, 768), (128, 64)], seeds=(0, 1, 2)))
def test_a_jump_in_a_short_table(table, seed):
    row = len(table) // 2 - 1
    finding, _ = find_row_only(planted.plant_seam_jump(table, row, seed), "seam")
    assert finding.rows == (row, row + 1)


@pytest.mark.parametrize("made", each_base(sizes=[(197, 768), (512, 64)], seeds=(0, 1, 2)))
def test_more_noise_from_a_row_on(table, seed):
    finding, _ = find_row_only(planted.plant_seam_noise(table, 97, seed, factor=1.0), "seam")
    assert abs(finding.rows[0] - 97) <= 1
    assert finding.data["step_ratio"] > 2


def test_a_line_three_times_as_long_has_equal_rows_at_its_held_ends():
    table = planted.make_interpolated_line(77, 231, 96)
    assert inspect_codes(table) == ["duplicate-rows", "interpolated"]


def round_to_bfloat16(table):
    return (table.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("store", [lambda t: t.astype(np.float16).astype(float), round_to_bfloat16])
def test_narrow_types_change_no_finding(store):
    trained = planted.make_trained(512, 128)
    for plant, codes in (
        (lambda t: t, []),
        (planted.plant_cls, ["special-first-row"]),
        (planted.plant_padding, ["padding-offset"]),
        (planted.plant_copies, ["duplicate-rows"]),
        (planted.plant_seam_noise, ["seam"]),
        (lambda t: planted.plant_tail(t, 448), ["untrained-tail"]),
        (lambda t: planted.make_noise(*t.shape), ["no-structure"]),
    ):
        assert inspect_codes(store(plant(trained))) == codes
    sinusoid = [code for code in inspect_codes(store(planted.make_sinusoid(512, 128))) if code != "constant-columns"]
    assert sinusoid == []


def test_everything_at_once_with_rows_of_the_file():
    table = planted.make_trained(1024, 768)
    table = planted.plant_tail(planted.plant_seam_noise(planted.plant_cls(table)), 960)
    table = planted.plant_copies(table, 300, 700)
    result = inspect_table(table, row_offset=100)
    found = {finding.code: finding.rows for finding in result.findings}
    assert found == {
        "special-first-row": (100,),
        "duplicate-rows": (400, 800),
        "untrained-tail": ((1060, 1123),),
        "seam": (227, 228),
    }
    assert result.rows_used == (101, 1060)


# ----------------------------------------------------------------------------------- rates


TWENTY = range(20)


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2, 0.3])
def test_two_lively_tables_joined_at_row_127(noise):
    found = 0
    for seed in TWENTY:
        table = planted.make_lively(384, 64, seed, noise)
        table[128:] = planted.make_lively(384, 64, seed + 500, noise)[128:]
        found += [finding.rows for finding in look_at_rows(table)[0]] == [(127, 128)]
    assert found >= 19


@pytest.mark.parametrize("factor", [0.5, 0.7, 1.4, 2.0])
@pytest.mark.parametrize("size", [(256, 64), (512, 128)])
def test_a_change_of_scale_is_found_at_its_row(factor, size):
    found = 0
    for seed in TWENTY:
        table = planted.plant_seam_norm(planted.make_lively(*size, seed), factor=factor)
        findings = look_at_rows(table)[0]
        found += [finding.rows for finding in findings] == [(127, 128)]
        if findings and findings[0].data["norm_ratio"] is not None:
            assert_allclose(findings[0].data["norm_ratio"], factor, rtol=0.25)
    assert found >= 18


@pytest.mark.parametrize("deviation", [0.02, 0.04])
@pytest.mark.parametrize(("count", "code"), [(1, "special-first-row"), (2, "padding-offset")])
def test_rows_in_front_of_a_lively_table(deviation, count, code):
    found = 0
    for seed in TWENTY:
        front = planted.make_noise(count, 64, 500 + seed, deviation)
        findings, anatomy = look_at_rows(np.concatenate([front, planted.make_lively(384, 64, seed)]))
        found += [finding.code for finding in findings] == [code] and anatomy.first == count
    assert found >= 19
