"""What finite precision leaves of an encoding: against fractions, 50 digits, other libraries and known answers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.encodings import Dft, GivenArray, Learned, Sinusoidal, find_encoding
from pe_spectra.encodings.absolute import Ramp
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.precision import Recipe, measure_precision, rows, staircase
from pe_spectra.precision.dtypes import COMMON, DTYPES, add, multiply, round_to
from pe_spectra.precision.nearest import bound_distances, find_nearest_of_ladder
from pe_spectra.precision.recipes import RECIPES
from pe_spectra.precision.waves import find_waves

NARROW = [name for name in DTYPES if name not in ("float32", "float64")]
#: Exact up to the phases, which alone are rounded.
PHASES_ONLY = Recipe(
    name="phases",
    when="when phases alone are rounded",
    positions="float64",
    frequencies="float64",
    phases="dtype",
    sines="float64",
    code="float64",
)


def build(name, **parameters):
    return find_encoding(name)(**parameters)


def find_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


# ----------------------------------------------------------------------------- rounding, as it is defined


def round_fraction(value: Fraction, name: str) -> float:
    """Round an exact number to nearest, ties to even, as the definition says; overflow as ml_dtypes has it."""
    kind = DTYPES[name]
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = math.floor(math.log2(size)) if size > Fraction(2) ** -1000 else -1080
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    while Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, kind.exponent) - kind.digits + 1)
    rounded = round(size / step) * step  # Python rounds fractions half to even
    if rounded > Fraction(kind.largest):
        return math.copysign(kind.overflow, value)
    return float(rounded) * (-1 if value < 0 and rounded else 1)


def same(left, right):
    np.testing.assert_array_equal(np.asarray(left, dtype=float), np.asarray(right, dtype=float))


@pytest.mark.parametrize("name", NARROW)
def test_every_narrow_type_is_the_one_of_ml_dtypes(name):
    kind, info = DTYPES[name], ml_dtypes.finfo(find_dtype(name))
    assert kind.digits == info.nmant + 1
    assert kind.largest == float(info.max)
    assert kind.step == float(info.smallest_subnormal)
    assert math.ldexp(1.0, kind.exponent) == float(info.smallest_normal)


@pytest.mark.parametrize("name", NARROW)
def test_rounding_of_float32_is_that_of_ml_dtypes(name):
    halves = np.arange(1 << 16, dtype=np.uint32) << 16
    offsets = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=np.uint32)
    values = (halves[:, None] | offsets).ravel().view(np.float32)
    with np.errstate(all="ignore"):
        expected = values.astype(find_dtype(name)).astype(np.float32)
    found = round_to(values, DTYPES[name])
    with np.errstate(invalid="ignore"):  # NaNs that signal
        same(found, expected)
    assert found.dtype == np.float32


@pytest.mark.parametrize("name", DTYPES)
def test_zeros_have_no_sign_and_nans_are_one(name):
    kind = DTYPES[name]
    found = round_to(np.array([-0.0, -kind.step / 4, math.nan, -math.nan]), kind)
    assert not np.signbit(found[:2]).any()
    assert len({value.tobytes() for value in found[2:]}) == 1


@pytest.mark.parametrize("name", NARROW)
@given(data=st.data())
def test_rounding_of_float64_is_done_once(name, data):
    kind = DTYPES[name]
    exponent = data.draw(st.integers(kind.exponent - kind.digits - 1, kind.exponent + 20))
    odd = data.draw(st.integers(1 << kind.digits, (2 << kind.digits) - 1)) | 1  # half way between two numbers
    nudge = data.draw(st.sampled_from([0, 1, -1, 1 << 12, -(1 << 12), 1 << 25, -(1 << 25)]))
    mantissa = (odd << (52 - kind.digits)) + nudge
    value = math.ldexp(mantissa, exponent - 52) * data.draw(st.sampled_from([1, -1]))
    same(round_to(np.array([value]), kind), [round_fraction(Fraction(value), name)])


def test_a_cast_by_way_of_float32_would_round_twice():
    value = np.array([1 + 2.0**-8 + 2.0**-40])
    assert float(value.astype(np.float32).astype(ml_dtypes.bfloat16)[0]) == 1.0
    assert round_to(value, DTYPES["bfloat16"])[0] == 1 + 2.0**-7
    assert round_to(np.array([1e-60, 1e300]), DTYPES["float8_e5m2"]).tolist() == [0.0, math.inf]


@pytest.mark.parametrize("name", [*NARROW, "float32"])
def test_products_and_sums_of_a_type_are_rounded_once(name):
    kind = DTYPES[name]
    draw = np.random.default_rng(5)
    raw = np.ldexp(draw.uniform(0.5, 1, 400), draw.integers(kind.exponent // 2, 8, 400)) * draw.choice([-1, 1], 400)
    numbers = round_to(raw, kind)
    a, b = numbers[:200], numbers[200:]
    pairs = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    same(multiply(a, b, kind), [round_fraction(x * y, name) for x, y in pairs])
    same(add(a, b, kind), [round_fraction(x + y, name) for x, y in pairs])


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_products_and_sums_of_every_two_numbers_of_eight_bits(name):
    every = np.arange(256, dtype=np.uint8).view(find_dtype(name)).astype(np.float32)
    every = every[np.isfinite(every)]
    a, b = (grid.ravel() for grid in np.meshgrid(every, every))
    exact = a.astype(float) * b.astype(float), a.astype(float) + b.astype(float)
    pairs = np.unique(np.concatenate(exact))  # exact in float64: no rounding but one
    wanted = dict(zip(pairs.tolist(), [round_fraction(Fraction(value), name) for value in pairs.tolist()], strict=True))
    for found, sums in zip((multiply(a, b, DTYPES[name]), add(a, b, DTYPES[name])), exact, strict=True):
        same(found, [wanted[value] for value in sums.tolist()])


def test_a_sum_of_a_wider_number_is_rounded_there_first():
    code = np.array([2.0**-8 + 2.0**-30], dtype=np.float32)
    # in float32 the sum loses 2**-30 and is half way between two numbers of bfloat16
    assert add(code, np.ones(1, dtype=np.float32), DTYPES["bfloat16"])[0] == 1.0
    assert add(code.astype(float), np.ones(1), DTYPES["bfloat16"])[0] == 1 + 2.0**-7


def test_units_in_the_last_place():
    half = DTYPES["float16"]
    assert half.measure_ulp(1.0) == 2.0**-10
    assert half.measure_ulp(np.nextafter(1.0, 0)) == 2.0**-11
    assert half.measure_ulp(0.0) == half.measure_ulp(1e-7) == half.step == 2.0**-24


# ----------------------------------------------------------------------------- the pipeline, slowly


def round_mpf(value, name):
    return round_fraction(Fraction(*mpmath_ratio(value)), name)


def mpmath_ratio(value):
    sign, mantissa, exponent, _ = value._mpf_
    number = -int(mantissa) if sign else int(mantissa)
    return (number << exponent, 1) if exponent >= 0 else (number, 1 << -exponent)


def compute_slowly(exact_frequencies, size, steps, *, offset=0, spread=1.0):
    """Every stage of a ladder with one sine and cosine each, in fractions and 50 digits; rows of numbers."""
    with mpmath.workdps(50):
        positions = [round_fraction(Fraction(s + offset), steps.positions.name) for s in range(size)]
        frequencies = [round_mpf(w, steps.frequencies.name) for w in exact_frequencies]
        phases = [[times(p, w, steps.phases.name) for w in frequencies] for p in positions]
        sines = [
            [round_wave(wave(mpmath.mpf(x)), steps.sines.name) for wave in (mpmath.sin, mpmath.cos) for x in row]
            if all(math.isfinite(x) for x in row)
            else [wave_or_nan(wave, x, steps.sines.name) for wave in (mpmath.sin, mpmath.cos) for x in row]
            for row in phases
        ]
        codes = [[recast(x, steps.code.name) for x in row] for row in sines]
        drawn = np.random.Generator(np.random.PCG64(0)).standard_normal(len(codes[0])) * spread
        token = [round_fraction(Fraction(x), steps.sum.name) for x in drawn.tolist()]
        sums = [[plus(x, e, steps) for x, e in zip(row, token, strict=True)] for row in codes]
        errors = [
            [abs(mpmath.mpf(x) - (s + offset) * w) if math.isfinite(x) else mpmath.inf for x, w in pairs]
            for s, row in enumerate(phases)
            for pairs in [list(zip(row, exact_frequencies, strict=True))]
        ]
    return {"positions": [[p] for p in positions], "phases": phases, "sines": sines, "code": codes, "sum": sums}, errors


def times(p, w, name):
    return round_fraction(Fraction(p) * Fraction(w), name) if math.isfinite(p) else p * w


def round_wave(value, name):
    return round_mpf(value, name)


def wave_or_nan(wave, x, name):
    return round_mpf(wave(mpmath.mpf(x)), name) if math.isfinite(x) else math.nan


def recast(x, name):
    return round_fraction(Fraction(x), name) if math.isfinite(x) else math.nan


def plus(x, e, steps):
    """As implementations add: in the wider of both types, then rounded to the type of the sum."""
    wide = max(steps.code, steps.sum, key=lambda kind: kind.digits)
    return recast(recast_sum(x, e, wide.name), steps.sum.name)


def recast_sum(x, e, name):
    return round_fraction(Fraction(x) + Fraction(e), name) if math.isfinite(x) else math.nan


def describe_slowly(table):
    """Distinct rows, the first collision, columns that never change."""
    first: dict[tuple[str, ...], int] = {}
    collision = None
    for t, row in enumerate(table):
        key = tuple(repr(x + 0.0) for x in row)
        if key in first and collision is None:
            collision = (first[key], t)
        first.setdefault(key, t)
    constant = sum(len({repr(x + 0.0) for x in column}) == 1 for column in zip(*table, strict=True))
    return len(first), collision, constant


def find_nearest_slowly(table):
    values = np.array(table)
    pairs = itertools.combinations(range(len(values)), 2)
    return min((float(np.linalg.norm(values[s] - values[t])), (s, t)) for s, t in pairs)


def ladder_in_digits(d, rho):
    with mpmath.workdps(50):
        return [mpmath.mpf(rho) ** (-mpmath.mpf(2 * i) / d) for i in range(d // 2)]


def test_the_recipes_are_these():
    """Positions, frequencies, phases, sines, code and sum, where the type is float16."""
    single, half = "float32", "float16"
    expected = {
        "fp32": [single, single, single, single, single, half],
        "fp32-then-cast": [single, single, single, single, half, half],
        "bf16-positions": [half, single, single, single, half, half],
        "all-bf16": [half, half, half, half, half, half],
    }
    assert {name: [kind.name for kind in recipe.resolve(half)] for name, recipe in RECIPES.items()} == expected


CASES = [
    (4, 10000.0, 30, 0),
    (6, 3.0, 21, 5),
    (10, 1e6, 19, 0),
    (2, 7.0, 60, 1),
]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("recipe", [*RECIPES.values(), PHASES_ONLY], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize(("d", "rho", "size", "offset"), CASES)
def test_every_stage_agrees_with_fractions_and_fifty_digits(d, rho, size, offset, recipe, dtype):
    report = measure_precision(Sinusoidal(d=d, rho=rho, offset=offset), length=size, dtypes=[dtype], recipes=[recipe])
    tables, errors = compute_slowly(ladder_in_digits(d, rho), size, recipe.resolve(dtype), offset=offset)
    stages = {row.stage: row for row in report.rows}
    assert list(stages) == ["positions", "frequencies", "phases", "sines", "code", "sum"]
    for name, table in tables.items():
        distinct, collision, constant = describe_slowly(table)
        found = stages[name]
        assert (found.distinct, found.first_collision, found.total) == (distinct, collision, size)
        odd = sum(not all(math.isfinite(x) for x in row) for row in table)
        assert found.not_finite == odd
        if name != "positions":
            assert found.constant_channels == constant * (2 if name == "phases" else 1)
        if name in ("code", "sum") and size > 1 and not odd:
            distance, _ = find_nearest_slowly(table)
            assert found.min_separation == pytest.approx(distance, rel=1e-12)
            s, t = found.closest_pair
            assert np.linalg.norm(np.subtract(table[s], table[t])) == pytest.approx(distance, rel=1e-12, abs=0)
            largest = max(abs(x) for row in (table[s], table[t]) for x in row)
            ulp = DTYPES[found.type].measure_ulp(largest)
            assert found.ulp_margin == pytest.approx(distance / ulp, rel=1e-12)
    worst = max(error for row in errors for error in row)
    if worst == mpmath.inf:
        assert stages["phases"].max_phase_error is None
    else:
        assert stages["phases"].max_phase_error == pytest.approx(float(worst), rel=1e-6, abs=1e-30)
        assert stages["sum"].max_phase_error == stages["phases"].max_phase_error


def test_staircases_count_what_is_distinct_so_far():
    report = measure_precision(Sinusoidal(d=6), length=400, dtypes=["bfloat16"])
    for stair, recipe in zip(report.stairs, RECIPES.values(), strict=True):
        tables, errors = compute_slowly(ladder_in_digits(6, 1e4), 400, recipe.resolve("bfloat16"))
        for count, distinct, error in zip(stair.counts, stair.distinct, stair.errors, strict=True):
            assert describe_slowly(tables["code"][:count])[0] == distinct
            worst = float(max(one for row in errors[:count] for one in row))
            # between the ends of what is cast to one number, an error may be a little larger than at the first
            assert worst * (1 - 1e-6) - 1e-30 <= error * (1 + 1e-6) if recipe.positions == "float32" else True
            assert error <= worst * (1 + 1e-6)
        assert stair.counts[0] == 1
        assert stair.counts[-1] == 400


def test_stages_before_phases_have_their_own_errors():
    size, dtype = 600, "bfloat16"
    report = measure_precision(Sinusoidal(d=8), length=size, dtypes=[dtype], recipes=["all-bf16"])
    exact = ladder_in_digits(8, 1e4)
    with mpmath.workdps(50):
        cast = [round_fraction(Fraction(s), dtype) for s in range(size)]
        rounded = [round_mpf(w, dtype) for w in exact]
        positions = max(abs(p - s) * w for s, p in enumerate(cast) for w in exact)
        both = max(
            abs(mpmath.mpf(p) * v - s * w) for s, p in enumerate(cast) for w, v in zip(exact, rounded, strict=True)
        )
    assert report.rows[0].max_phase_error == pytest.approx(float(positions), rel=1e-14)
    assert report.rows[1].max_phase_error == pytest.approx(float(both), rel=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "recipe"), [("float32", "fp32"), ("float64", "all-bf16"), ("bfloat16", "all-bf16")])
def test_phase_errors_at_a_million_positions_have_fifty_digits_behind_them(dtype, recipe):
    size = 1_000_000
    report = measure_precision(Sinusoidal(d=6, rho=50.0), length=size, dtypes=[dtype], recipes=[recipe])
    steps = RECIPES[recipe].resolve(dtype)
    found = {row.stage: row for row in report.rows}["phases"].max_phase_error
    exact = ladder_in_digits(6, 50.0)
    with mpmath.workdps(50):
        frequencies = [round_mpf(w, steps.frequencies.name) for w in exact]
        # all errors in plain arithmetic; the largest of them again in digits
        positions = np.arange(size)
        near = [0, size - 1]
        for w, rounded in zip(exact, frequencies, strict=True):
            cast = round_to(positions.astype(float), steps.positions)
            phases = multiply(cast, round_to(np.array([rounded]), steps.frequencies), steps.phases).astype(float)
            high = float(w)
            rough = np.abs((phases - positions * np.longdouble(high)) - positions * np.longdouble(float(w - high)))
            near += np.argsort(rough)[-50:].tolist()
        worst = max(
            abs(mpmath.mpf(times(round_fraction(Fraction(s), steps.positions.name), v, steps.phases.name)) - s * w)
            for s in set(near)
            for w, v in zip(exact, frequencies, strict=True)
        )
    assert found == pytest.approx(float(worst), rel=1e-8)


# ----------------------------------------------------------------------------- known answers


def read_rows(report):
    return {(row.recipe, row.stage): row for row in report.rows}


def test_positions_in_bfloat16():
    found = read_rows(measure_precision(Sinusoidal(d=256), length=8192, dtypes=["bfloat16"]))
    for recipe in ("bf16-positions", "all-bf16"):
        for stage in ("positions", "frequencies", "phases", "sines", "code", "sum"):
            assert found[recipe, stage].distinct == 897
            assert found[recipe, stage].first_collision == (256, 257)
    for stage in ("positions", "frequencies", "phases", "sines", "code", "sum"):
        assert found["fp32-then-cast", stage].distinct == found["fp32", stage].distinct == 8192
        assert found["fp32-then-cast", stage].first_collision is None


def test_a_million_positions_in_bfloat16():
    report = measure_precision(Sinusoidal(d=4), length=1_000_000, dtypes=["bfloat16"], recipes=["bf16-positions"])
    assert report.rows[0].distinct == 1781
    assert report.rows[0].max_phase_error == 2048.0  # half the step of bfloat16 at 2**19, by 1 rad


@pytest.mark.parametrize(("levels", "left"), [(4096, 3073), (8192, 4097)])
def test_a_ramp_in_float16(levels, left):
    report = measure_precision(Ramp(length=levels), length=levels, dtypes=["float16"], recipes=["fp32-then-cast"])
    assert read_rows(report)["fp32-then-cast", "code"].distinct == left
    naive = (np.arange(levels) / (levels - 1)).astype(np.float16)
    assert len(np.unique(naive)) == left


def test_exact_positions_and_phases_in_bfloat16():
    report = measure_precision(Sinusoidal(d=256), length=8192, dtypes=["bfloat16"], recipes=[PHASES_ONLY])
    assert {row.stage: row.distinct for row in report.rows if row.stage != "sum"} == {
        "positions": 8192,
        "frequencies": 8192,
        "phases": 8110,
        "sines": 8110,
        "code": 8110,
    }


def test_channels_of_a_rotary_cache_that_no_longer_turn():
    rope = Rope(d=128, base=5e5)
    report = measure_precision(rope, length=8192, dtypes=["bfloat16"], recipes=["fp32-then-cast"])
    found = read_rows(report)["fp32-then-cast", "code"]
    assert (found.distinct, found.constant_channels) == (8192, 6)
    assert "sum" not in {row.stage for row in report.rows}
    cosines = np.cos(np.multiply.outer(np.arange(8192), rope.frequencies().values)).astype(ml_dtypes.bfloat16)
    assert (cosines == cosines[0]).all(axis=0).sum() == 6


@pytest.mark.parametrize(
    ("dtype", "left"), [("float64", 8192), ("float32", 8192), ("float16", 3604), ("bfloat16", 1316)]
)
def test_one_frequency_alone(dtype, left):
    exact = Recipe(
        name="exact",
        when="",
        positions="float64",
        frequencies="float64",
        phases="float64",
        sines="float64",
        code="dtype",
    )
    report = measure_precision(Sinusoidal(d=256, rho=1), length=8192, dtypes=[dtype], recipes=[exact])
    assert report.codes[0].distinct == left


# ----------------------------------------------------------------------------- other encodings


def test_all_stages_of_a_table():
    draw = np.random.default_rng(3)
    table = draw.normal(size=(300, 5)).round(2)
    table[7] = table[2]
    table[:, 3] = 1.25
    report = measure_precision(Learned(values=GivenArray(table)), dtypes=COMMON)
    for row in report.rows:
        kind = find_dtype(row.dtype)
        code = table.astype(np.float32) if row.recipe == "fp32" else table.astype(np.float32).astype(kind)
        if row.stage == "sum":
            token = np.random.Generator(np.random.PCG64(0)).standard_normal(5)
            code = (code.astype(np.float32) + token.astype(kind).astype(np.float32)).astype(kind)
        distinct, collision, constant = describe_slowly(code.astype(float).tolist())
        assert (row.distinct, row.first_collision) == (distinct, collision)
        assert row.constant_channels == constant - 1  # one never changed
        assert row.max_phase_error is None
    assert report.exact_distinct == 299
    assert {row.stage for row in report.rows} == {"code", "sum"}


def test_biases_are_told_apart_by_lag():
    report = measure_precision(build("alibi"), length=4096, dtypes=["bfloat16"])
    assert report.domain == "lags"
    found = read_rows(report)
    # slopes are powers of two: lags collide as positions do
    assert found["fp32-then-cast", "code"].first_collision == (256, 257)
    assert found["fp32-then-cast", "code"].distinct == 256 + 128 * 4 + 1
    assert found["fp32", "code"].distinct == 4096
    assert set(found) == {("fp32", "code"), ("fp32-then-cast", "code")}


def test_lags_of_both_signs_are_all_counted():
    report = measure_precision(build("t5"), length=256, dtypes=["float32"])
    assert report.rows[0].total == 511
    assert report.rows[0].distinct == report.exact_distinct == 31
    assert report.rows[0].first_collision == (8, 9)


def test_a_formula_of_real_positions_has_its_positions_cast():
    report = measure_precision(build("time2vec"), length=600, dtypes=["bfloat16"])
    found = read_rows(report)
    assert found["bf16-positions", "positions"].distinct == 257 + 128 + 22  # to 256, in steps of 2 to 512, of 4 to 600
    assert "all-bf16" not in {recipe.name for recipe in report.recipes}


@pytest.mark.parametrize("name", ["tensor2tensor", "tape", "dft", "mtan", "learnable-sinusoid", "rope"])
def test_ladders_are_read_as_sines_and_cosines(name):
    waves = find_waves(build(name))
    assert waves is not None
    assert waves.columns == build(name).d


@pytest.mark.parametrize(
    "encoding", [Sinusoidal(d=7, offset=3), Sinusoidal(d=9, scale=0.25), Dft(d=9), Dft(d=8), Rope(d=16, share=0.5)]
)
def test_lone_columns_offsets_and_factors_are_read_too(encoding):
    waves = find_waves(encoding)
    assert waves is not None
    report = measure_precision(encoding, length=8, dtypes=["float64"], recipes=["fp32-then-cast"])
    table = encoding.table(8)
    rounded = np.linalg.norm(table[0] - table[1])
    assert report.codes[0].min_separation <= rounded * (1 + 1e-5)


@pytest.mark.parametrize("name", ["dfstrans", "fourier-features", "pixel-bands", "one-hot", "ramp"])
def test_what_is_no_list_of_sines_is_not_read_as_one(name):
    assert find_waves(build(name)) is None


@pytest.mark.parametrize(
    "encoding", [Dft(d=8), Dft(d=7), Rope(d=16, scaling="proportional", share=0.5), Rope(d=16, share=0.5)]
)
def test_columns_that_never_changed_have_not_gone_constant(encoding):
    report = measure_precision(encoding, length=7, dtypes=["float64"], recipes=["all-bf16"])
    assert {row.constant_channels for row in report.rows} == {None, 0}
    assert (encoding.table(7) == encoding.table(7)[0]).all(axis=0).any()


def test_frequencies_that_vanish_take_their_channels_with_them():
    # the smallest number of float8_e4m3fn is 2**-9: at half of it and below, frequencies become 0
    frequencies = 1e4 ** -(np.arange(32) / 32)
    report = measure_precision(Sinusoidal(d=64), length=16, dtypes=["float8_e4m3fn"], recipes=["all-bf16"])
    assert report.rows[1].constant_channels == 2 * (frequencies <= 2.0**-10).sum() > 0


def test_rounding_that_tells_equal_codes_apart_is_said():
    report = measure_precision(Dft(d=64), length=200, dtypes=["float32"])
    assert report.exact_distinct == 64
    assert report.codes[0].distinct > 64
    assert any("what tells more of them apart is rounding" in note for note in report.notes)


def test_what_rounding_merges_is_told_from_what_is_one_code_anyway():
    report = measure_precision(Dft(d=24), length=60, dtypes=["float8_e4m3fn"], recipes=["bf16-positions"])
    table = round_to(np.arange(60.0), DTYPES["float8_e4m3fn"]).tolist()
    expected = next((table.index(p), s) for s, p in enumerate(table) if (table.index(p) - s) % 24)
    assert report.stairs[0].merged == expected == (16, 17)
    again = measure_precision(Dft(d=8), length=60, dtypes=["float64"], recipes=["fp32-then-cast"])
    assert again.stairs[0].merged is None
    shared = np.repeat(np.array([[1.0], [1 + 2.0**-9], [2.0]]), 2, axis=0)
    given = measure_precision(Learned(values=GivenArray(shared)), dtypes=["bfloat16"], recipes=["fp32-then-cast"])
    assert given.rows[0].first_collision == (0, 1)
    assert given.stairs[0].merged == (0, 2)
    assert given.exact_distinct == 3


def test_positions_beyond_a_type_are_not_finite():
    report = measure_precision(Sinusoidal(d=8), length=600, dtypes=["float8_e4m3fn"], recipes=["bf16-positions"])
    found = read_rows(report)
    beyond = int(np.isnan(np.arange(600, dtype=np.float32).astype(ml_dtypes.float8_e4m3fn).astype(float)).sum())
    for stage in ("positions", "phases", "sines", "code", "sum"):
        assert found["bf16-positions", stage].not_finite == beyond == 600 - 465
    assert found["bf16-positions", "code"].max_phase_error is None
    assert any("hardware that saturates" in note for note in report.notes)


def test_a_single_position_has_nothing_to_collide_with():
    report = measure_precision(Sinusoidal(d=8), length=1)
    for row in report.rows:
        assert (row.distinct, row.total, row.first_collision, row.min_separation) == (1, 1, None, None)
        assert not row.constant_channels


# ----------------------------------------------------------------------------- what is streamed


@pytest.mark.slow
def test_small_blocks_give_the_same_answer(monkeypatch):
    def ask():
        encodings = [Sinusoidal(d=12), Dft(d=40), build("alibi"), Ramp(length=900)]
        return [measure_precision(one, length=900, dtypes=["bfloat16", "float16"]).rows for one in encodings]

    whole = ask()
    monkeypatch.setattr(rows, "BLOCK", 1)
    assert ask() == whole


def test_rows_are_compared_by_their_bytes_where_hashes_agree(monkeypatch):
    encoding = Sinusoidal(d=12)
    expected = measure_precision(encoding, length=320, dtypes=["bfloat16"]).rows

    def hash_poorly(block, columns):
        # one bit of the first of the columns: groups of some hundred rows that are not equal
        words = np.ascontiguousarray(block[:, columns[:1]]).view(np.uint32).astype(np.uint64)
        return np.concatenate([words >> np.uint64(31), words & np.uint64(0)], axis=1)

    monkeypatch.setattr(rows, "_hash", hash_poorly)
    assert measure_precision(encoding, length=320, dtypes=["bfloat16"]).rows == expected


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=60), st.integers(0, 3))
def test_the_first_equal_row_is_found(values, bits):
    table = np.array(values, dtype=np.float32)
    hashes = (table[:, :2].astype(np.uint64)) >> np.uint64(bits)
    found = rows.find_first_equal(hashes, lambda numbers: table[numbers], 3)
    assert found.tolist() == [values.index(value) for value in values]


def test_more_columns_than_are_sampled_tell_rows_apart():
    table = np.zeros((50, 5000))
    table[np.arange(50), np.arange(50) * 97 + 1] = np.arange(50)
    report = measure_precision(Learned(values=GivenArray(table)), dtypes=["float16"], recipes=["fp32"])
    assert report.rows[0].distinct == 50
    assert report.rows[0].first_collision is None


@pytest.mark.parametrize("encoding", [Sinusoidal(d=8, rho=3.0), Sinusoidal(d=16), Sinusoidal(d=7), Rope(d=8)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float32"])
def test_the_closest_rows_of_a_ladder_are_found_by_their_lags(encoding, dtype, monkeypatch):
    from pe_spectra.precision import nearest

    monkeypatch.setattr(nearest, "MAX_HELD_WORK", 0)
    monkeypatch.setattr(staircase, "MAX_HELD_WORK", 0)
    size = 800
    by_lags = measure_precision(encoding, length=size, dtypes=[dtype], recipes=["fp32-then-cast"]).codes[0]
    positions = np.arange(size, dtype=np.float32)
    waves = find_waves(encoding)
    phases = positions[:, None] * waves.high.astype(np.float32)
    angles = phases.astype(float)
    sines = np.concatenate([np.sin(angles[:, waves.sines]), np.cos(angles[:, waves.cosines])], axis=1)
    table = sines.astype(np.float32).astype(find_dtype(dtype)).astype(float)
    distances = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(size, 1)]
    assert by_lags.min_separation == pytest.approx(float(distances.min()), rel=1e-12)


def test_no_lag_is_passed_over_that_could_hold_the_closest_rows():
    waves = find_waves(Sinusoidal(d=10, rho=5.0))
    table = Sinusoidal(d=10, rho=5.0).table(400)
    exact = [np.linalg.norm(table[:-lag] - table[lag:], axis=1).min() for lag in range(1, 400)]
    bounds = bound_distances(waves, 399)
    assert (bounds <= np.array(exact) * (1 + 1e-12)).all()
    np.testing.assert_allclose(bounds, exact, rtol=1e-6)
    known = (float(np.linalg.norm(table[:-1] - table[1:], axis=1).min()), (0, 1))
    found = find_nearest_of_ladder(lambda numbers: table[numbers], 400, 10, bounds, 1e-9, known)
    assert found is not None
    assert found[0] == pytest.approx(min(exact), rel=1e-12)


def test_pipelines_that_are_the_same_are_measured_once(monkeypatch):
    passes = []
    original = staircase.LadderPass.measure
    monkeypatch.setattr(staircase.LadderPass, "measure", lambda self: passes.append(1) or original(self))
    measure_precision(Sinusoidal(d=8), length=64, dtypes=["float32"])
    assert len(passes) == 1
    measure_precision(Sinusoidal(d=8), length=64, dtypes=["bfloat16", "float16", "float32"])
    assert len(passes) == 1 + 5  # float32 up to the sines; positions first, and every step, in two types


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtypes": ["bfloat17"]}, ["dtype is not known (bfloat17)", "bfloat16"]),
        ({"recipes": ["bf16"]}, ["recipe is not known (bf16)", "all-bf16"]),
        ({"length": 0}, ["length is out of range (0)"]),
        ({"embedding": 0}, ["embedding is out of range (0)"]),
        ({"embedding": math.nan}, ["embedding is out of range (nan)"]),
    ],
)
def test_what_cannot_be_used_is_refused(options, words):
    with pytest.raises(InputError) as caught:
        measure_precision(Sinusoidal(d=8), **{"length": 16, **options})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(("name", "recipe"), [("one-hot", "bf16-positions"), ("ramp", "all-bf16"), ("t5", "all-bf16")])
def test_a_recipe_needs_the_steps_that_it_has(name, recipe):
    with pytest.raises(InputError, match=rf"recipe has steps .*\({recipe}\); accepted here: fp32, fp32-then-cast"):
        measure_precision(build(name), length=16, recipes=[recipe])


@pytest.mark.parametrize("name", ["fire", "tupe", "swin"])
def test_a_bias_of_query_and_key_has_no_code(name):
    with pytest.raises(InputError, match=f"{name}: its bias belongs to a query and a key"):
        measure_precision(build(name), length=16)


def test_work_has_a_budget():
    with pytest.raises(InputError, match=r"^length x columns x recipes .*1048576 x 4096 x 3.*8589934592"):
        measure_precision(Sinusoidal(d=4096), length=1 << 20, dtypes=["bfloat16"], recipes=list(RECIPES)[:3])


def test_a_channel_that_is_nan_everywhere_has_gone_constant():
    """float8_e4m3fn has nothing beyond 448 but NaN, which equals nothing, not even itself."""
    table = np.stack([np.arange(8.0), 1000.0 + np.arange(8)], axis=1)
    table_alone = Learned(values=GivenArray(table))
    (code, *_) = measure_precision(table_alone, dtypes=["float8_e4m3fn"], recipes=["fp32-then-cast"]).rows
    assert (code.stage, code.distinct, code.constant_channels, code.not_finite) == ("code", 8, 1, 8)


def test_what_is_too_large_is_refused_before_anything_is_computed(monkeypatch):
    """The words of a million frequencies alone take seconds and hundreds of megabytes."""
    monkeypatch.setattr(staircase, "find_waves", lambda _: pytest.fail("looked at the encoding first"))
    with pytest.raises(InputError, match=r"too large \(1048576 x 1048576 x 1\)"):
        measure_precision(Sinusoidal(d=1 << 20), length=1 << 20)
