"""Tails without training and seams between trainings: found at their rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.encodings import ENCODINGS
from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.row_findings import group_rows
from tests import planted
from tests.inspection.corpus import make
from tests.inspection.tables import each_base, find_only, find_row_only, inspect_codes, look_at_rows

# ----------------------------------------------------------------------------------- tail, seams


@pytest.mark.slow
@pytest.mark.parametrize("made", each_base())
def test_an_untrained_tail(table, seed):
    size = len(table)
    for start in (size - size // 8, size // 2, size - 5):
        finding, anatomy = find_row_only(planted.plant_tail(table, start, seed), "untrained-tail")
        assert finding.rows == group_rows(range(start, size))
        assert finding.data["trained_rows"] == start
        assert_allclose(finding.data["deviation"], 0.02, rtol=0.2)
        assert (anatomy.first, anatomy.last) == (0, start)


@pytest.mark.slow
def test_a_tail_of_zeros():
    table = planted.make_trained(512, 64)
    table[400:] = 0
    finding, _ = find_only(table, "untrained-tail")
    assert finding.rows == ((400, 511),)
    assert finding.data["kind"] == "zero"


def assert_norms_are_said(data, table, left_out=()):
    """The ratio of the medians of 24 norms on either side of the seam, where a change of norm is said at all."""
    assert (data["norm_ratio"] is None) == (data["norm_errors"] is None)
    if data["norm_errors"] is not None:
        norms, length = np.linalg.norm(table, axis=1), data["length"]
        before, behind = (
            [row for row in rows if row not in left_out] for rows in np.split(np.arange(len(norms)), [length])
        )
        ratio = np.median(norms[behind[:24]]) / np.median(norms[before[-24:]])
        assert_allclose(data["norm_ratio"], ratio, rtol=1e-12)


SEAMS = {
    "jump": planted.plant_seam_jump,
    "offset": planted.plant_seam_offset,
    "norm": planted.plant_seam_norm,
    "noise": planted.plant_seam_noise,
}


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", SEAMS)
@pytest.mark.parametrize("made", each_base(sizes=[(512, 768), (1024, 768), (512, 128)]))
def test_a_seam_at_row_127(table, seed, kind):
    table = SEAMS[kind](table, row=127, seed=seed)
    finding, _ = find_row_only(table, "seam")
    assert finding.rows == (127, 128)
    assert finding.data["length"] == 128
    assert "127 and 128" in finding.message
    if kind == "norm":
        assert_norms_are_said(finding.data, table)


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


@pytest.mark.slow
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


@pytest.mark.slow
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
#: One to three Gaussian processes.
FEW = "sound: few smooth columns"


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2, 0.3])
def test_two_lively_tables_joined_at_row_127(noise):
    found = 0
    for seed in TWENTY:
        table = planted.make_lively(384, 64, seed, noise)
        table[128:] = planted.make_lively(384, 64, seed + 500, noise)[128:]
        found += [finding.rows for finding in look_at_rows(table)[0]] == [(127, 128)]
    assert found >= 19


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.5, 0.7, 1.4, 2.0])
@pytest.mark.parametrize("size", [(256, 64), (512, 128)])
def test_a_change_of_scale_is_found_at_its_row(factor, size):
    found = 0
    for seed in TWENTY:
        table = planted.plant_seam_norm(planted.make_lively(*size, seed), factor=factor)
        findings = look_at_rows(table)[0]
        found_here = [finding.rows for finding in findings] == [(127, 128)]
        found += found_here
        if found_here:
            assert_norms_are_said(findings[0].data, table)
    assert found >= 18


@pytest.mark.slow
@pytest.mark.parametrize("deviation", [0.02, 0.04])
@pytest.mark.parametrize(("count", "code"), [(1, "special-first-row"), (2, "padding-offset")])
def test_rows_in_front_of_a_lively_table(deviation, count, code):
    found = 0
    for seed in TWENTY:
        front = planted.make_noise(count, 64, 500 + seed, deviation)
        findings, anatomy = look_at_rows(np.concatenate([front, planted.make_lively(384, 64, seed)]))
        found += [finding.code for finding in findings] == [code] and anatomy.first == count
    assert found >= 19


# ----------------------------------------------------------------------------------- lasting changes, odd rows


def make_bert(seed, rows=512, width=384):
    """A ladder whose periods drift, a mean row, and noise that makes half of each step: norms near 0.4."""
    return make("sound: BERT's kind, float32", seed).table[:rows, :width].copy()


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
def test_a_weak_lasting_change_with_an_odd_row_at_the_break_is_a_seam(seed):
    """Norms and steps are an eighth longer from row 127 on, and row 127 is unlike all others."""
    table = make_bert(seed)
    table[127:] *= 1.125
    table[127] = planted.make_noise(1, 384, seed, 1.0)[0]
    table[127] *= 1.2 * np.median(np.linalg.norm(table, axis=1)) / np.linalg.norm(table[127])
    finding, _ = find_row_only(table, "seam")
    assert finding.rows in ((126, 127), (127, 128))
    assert "row 127 is unlike both sides" in finding.message
    assert "consistent with training first at length" in finding.message
    assert_allclose(finding.data["step_ratio"], 1.125, rtol=0.05)
    assert f"step (x{finding.data['step_ratio']:.3g}, {finding.data['step_errors']:.0f}" in finding.message


@pytest.mark.few(5)
@pytest.mark.parametrize("factor", [0.6, 0.75, 1.5, 1.7])
@pytest.mark.parametrize("odd", [None, 127, 128])
def test_the_ratio_of_norms_is_that_of_the_medians_of_both_sides(factor, odd):
    """Also where a row at the break is left out."""
    table = make_bert(7, width=192)
    table[128:] *= factor
    if odd is not None:
        table[odd] *= 9
    findings, _ = look_at_rows(table)
    (seam,) = (finding for finding in findings if finding.code == "seam")
    assert abs(seam.rows[0] - 127) <= 1
    assert seam.data["norm_errors"] is not None
    assert_norms_are_said(seam.data, table, {odd})
    assert_allclose(seam.data["norm_ratio"], factor, rtol=0.15)


def test_the_ratio_of_norms_is_right_where_they_change_a_thousandfold():
    """Norms that fall to a third, and to a thousandth behind row 127: half of the rows are no outliers."""
    generator = planted.make_generator(2)
    noise, walk = generator.standard_normal((2, 256, 64)) * np.array([0.3, 0.05])[:, None, None]
    sizes = np.concatenate([np.linspace(3, 0.6, 128), np.full(128, 1e-3)])
    table = (1 + noise + np.cumsum(walk, axis=0)) * sizes[:, None]
    finding, _ = find_row_only(table, "seam")
    assert finding.data["norm_ratio"] < 0.002
    assert_norms_are_said(finding.data, table)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("place", ["first", "middle", "last", "two last"])
def test_odd_rows_are_no_seam(seed, place):
    table = make_bert(seed)
    rows = {"first": [0], "middle": [200], "last": [511], "two last": [510, 511]}[place]
    codes = {"first": "special-first-row", "middle": "outlier-rows"}
    noise = planted.make_noise(len(rows), 384, seed, 1.0)
    table[rows] = 2 * np.median(np.linalg.norm(table, axis=1)) * noise / np.linalg.norm(noise, axis=1)[:, None]
    finding, anatomy = find_row_only(table, codes.get(place, "special-last-rows"))
    assert list(finding.rows) == rows
    assert (anatomy.first, anatomy.last) == (int(place == "first"), 512 - len(rows) * ("last" in place))
    if "last" in place:
        norms = np.linalg.norm(table, axis=1)
        assert_allclose(finding.data["norm_ratios"], norms[rows] / np.median(norms[: rows[0]]), rtol=1e-12)
        assert "little trained, or tokens of their own" in finding.message


def test_two_long_last_rows_that_are_like_the_others_lie_behind_a_break():
    """Norms twice the rest, where norms vary so much that they are no outliers."""
    table = make_bert(3) * np.exp(0.25 * np.sin(np.arange(512) / 40))[:, None]
    table[510:] *= 2
    finding, _ = find_row_only(table, "special-last-rows")
    assert finding.rows == (510, 511)


@pytest.mark.parametrize("change", ["norm", "step", "spectrum"])
def test_what_is_said_of_a_seam_is_what_the_rows_show(change):
    """Each number of the sentence, and each side, against the table."""
    table, noise = make_bert(5), planted.make_noise(512, 384, 5, 1.0)
    smooth = planted.make_trained(512, 384, 5, noise=0.0)
    behind = (np.arange(512) >= 200)[:, None]
    table = {
        "norm": table * (1 + 0.2 * behind),
        "step": smooth + (0.3 + 0.1 * behind) * noise * smooth.std(),
        "spectrum": np.where(behind, (table + np.roll(table, 1, axis=0)) / 2, table),
    }[change]
    finding, _ = find_row_only(table, "seam")
    assert abs(finding.rows[0] - 199) <= 1
    data, row = finding.data, finding.rows[0]
    assert data["length"] == row + 1 == data["shorter_side"]
    steps = np.diff(table, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    turns = np.einsum("ij,ij->i", steps[:-1], steps[1:]) / lengths[:-1] / lengths[1:]
    for name, values, margin in (("norm", np.linalg.norm(table, axis=1), 0), ("step", lengths, 1)):
        if data[f"{name}_errors"]:
            ratio = np.median(values[row + 1 :][:24]) / np.median(values[: row + 1 - margin][-24:])
            assert_allclose(data[f"{name}_ratio"], ratio, rtol=1e-12)
            assert f"{name} (x{data[f'{name}_ratio']:.3g}" in finding.message
        else:
            assert f"{name} (" not in finding.message
    if data["turn_errors"]:
        assert_allclose(data["turn_before"], np.median(turns[: row - 1][-24:]), atol=1e-12)
        assert_allclose(data["turn_after"], np.median(turns[row + 1 :][:24]), atol=1e-12)
    assert ("in spectrum (" in finding.message or " spectrum (" in finding.message) == bool(data["turn_errors"])
    assert bool(data[{"norm": "norm_errors", "step": "step_errors", "spectrum": "turn_errors"}[change]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "most"), [(range(10), 1), pytest.param(range(50), 2, marks=pytest.mark.slow)], ids=str
)
def test_curves_have_no_seam(seeds, most):
    """Sinusoids and ramps none at all; parabolas through 0, whose norm turns there at once, in one of fifty."""
    story, told = {"seam", "interpolated", "special-last-rows"}, {"waves": 0, "ramp": 0, "bend": 0}
    for seed in seeds:
        generator = planted.make_generator(seed)
        places = np.linspace(-1, 1, 120)[:, None]
        tables = {
            "waves": np.sin(np.arange(64)[:, None] / generator.uniform(3, 19, 16)),
            "ramp": np.arange(96)[:, None] * generator.standard_normal(8) + generator.standard_normal(8),
            "bend": places**2 * generator.standard_normal(5) + places * generator.standard_normal(5),
        }
        for name, table in tables.items():
            told[name] += bool({finding.code for finding in look_at_rows(table)[0]} & story)
    assert told["waves"] == told["ramp"] == 0
    assert told["bend"] <= most, told


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, pytest.param(80, marks=pytest.mark.slow)])
def test_a_few_smooth_columns_that_pass_zero_have_no_seam(count):
    """Their norms and steps fall nearly to zero and turn there at once; the columns do not."""
    found = [seed for seed in range(count) if "seam" in {one.code for one in look_at_rows(make(FEW, seed).table)[0]}]
    assert len(found) <= 0.02 * count, found


@pytest.mark.slow
def test_a_few_smooth_columns_that_change_have_a_seam():
    found = 0
    for seed in range(20):
        table = make(FEW, seed).table
        row = len(table) // 2
        table[row:] = 2 * table[row:] + 2 * table.std()
        found += row - 1 in {one.rows[0] for one in look_at_rows(table)[0] if one.code == "seam"}
    assert found >= 18, found


def test_a_lone_step_says_nothing_about_training():
    table = planted.plant_seam_offset(planted.make_trained(256, 64, 1), 127, 1, 0.45)
    finding, _ = find_row_only(table, "seam")
    assert (finding.level, finding.data["jump"] < 2) == ("note", True)
    assert "training" not in finding.message


@pytest.mark.slow
def test_branches_of_a_tree_are_no_seams():
    (tree,) = [cls() for cls in ENCODINGS if cls.name == "tree"]
    assert "seam" not in inspect_codes(tree.table(256))


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(8))
def test_a_steep_curve_is_no_jump(seed):
    generator = np.random.default_rng(seed)
    places = np.arange(int(generator.integers(100, 400)))[:, None]
    middles, widths = generator.uniform(0, len(places), 32), generator.uniform(5, 60, 32)
    assert not inspect_table(np.tanh((places - middles) / widths)).findings


@pytest.mark.slow
def test_steps_that_grow_ever_faster_have_no_stray_row():
    table = np.polynomial.legendre.legvander(np.linspace(-1, 1, 256), 15)
    assert "stray-rows" not in {finding.code for finding in inspect_table(table).findings}
