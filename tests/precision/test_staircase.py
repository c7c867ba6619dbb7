"""Every stage of finite precision against fractions and fifty digits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from pe_spectra.encodings import GivenArray, Learned, Sinusoidal
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.precision.dtypes import DTYPES, RECIPES, multiply, round_to
from pe_spectra.precision.staircase import measure_precision
from tests.precision.slowly import PHASES_ONLY, describe_slowly, round_fraction, round_mpf


def compute_slowly(exact_frequencies, places, steps, *, offset=0, spread=1.0):
    """Every stage of a ladder with one sine and cosine each, in fractions and 50 digits; rows of numbers."""
    with mpmath.workdps(50):
        exact = [Fraction(s) + offset for s in places]
        positions = [round_fraction(s, steps.positions.name) for s in exact]
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
            [abs(mpmath.mpf(x) - s.numerator * w / s.denominator) if math.isfinite(x) else mpmath.inf for x, w in pairs]
            for s, row in zip(exact, phases, strict=True)
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
        "narrow-frequencies": [single, half, single, single, single, half],
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


@pytest.mark.few(20)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("recipe", [*RECIPES.values(), PHASES_ONLY], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize(("d", "rho", "size", "offset"), CASES)
def test_every_stage_agrees_with_fractions_and_fifty_digits(d, rho, size, offset, recipe, dtype):
    report = measure_precision(Sinusoidal(d=d, rho=rho, offset=offset), length=size, dtypes=[dtype], recipes=[recipe])
    tables, errors = compute_slowly(ladder_in_digits(d, rho), range(size), recipe.resolve(dtype), offset=offset)
    check_stages(report, tables, errors)


def check_stages(report, tables, errors):
    """Hold the stages of one recipe against slow ones; of positions that are not numbered from 0, by their numbers."""
    size = len(errors)

    def number(pair):
        return pair and tuple(s - report.start_position for s in pair)

    stages = {row.stage: row for row in report.rows}
    assert list(stages) == ["positions", "frequencies", "phases", "sines", "code", "sum"]
    for name, table in tables.items():
        distinct, collision, constant = describe_slowly(table)
        found = stages[name]
        assert (found.distinct, number(found.first_collision), found.total) == (distinct, collision, size)
        odd = sum(not all(math.isfinite(x) for x in row) for row in table)
        assert found.not_finite == odd
        if name != "positions":
            assert found.constant_channels == constant * (2 if name == "phases" else 1)
        if name in ("code", "sum") and size > 1 and not odd:
            distance, _ = find_nearest_slowly(table)
            assert found.min_separation == pytest.approx(distance, rel=1e-12)
            s, t = number(found.closest_pair)
            assert np.linalg.norm(np.subtract(table[s], table[t])) == pytest.approx(distance, rel=1e-12, abs=0)
            largest = max(abs(x) for row in (table[s], table[t]) for x in row)
            ulp = DTYPES[found.type].measure_ulp(largest)
            assert found.ulp_margin == pytest.approx(distance / ulp, rel=1e-12)
    worst = max(error for row in errors for error in row)
    if worst == mpmath.inf:
        assert stages["phases"].max_phase_error is None
    else:
        assert stages["phases"].max_phase_error == pytest.approx(float(worst), rel=1e-6, abs=1e-30)
        assert worst <= stages["phases"].phase_error_bound == stages["sum"].phase_error_bound
        assert stages["sum"].max_phase_error == stages["phases"].max_phase_error


@pytest.mark.few(17)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
@pytest.mark.parametrize("start", [250, 65_536 - 9, (1 << 24) - 5, (1 << 53) - 31])
def test_positions_may_start_anywhere(start, recipe, dtype):
    encoding, places = Sinusoidal(d=6, rho=50.0), range(start, start + 31)
    report = measure_precision(encoding, length=31, start_position=start, dtypes=[dtype], recipes=[recipe])
    tables, errors = compute_slowly(ladder_in_digits(6, 50.0), places, recipe.resolve(dtype))
    check_stages(report, tables, errors)
    for count, error in zip(report.stairs[0].counts, report.stairs[0].errors, strict=True):
        worst = float(max(one for row in errors[:count] for one in row))
        assert error <= worst * (1 + 1e-6) or (math.isinf(worst) and error > 1e300)


@pytest.mark.few(12)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
@pytest.mark.parametrize(
    "places", [np.arange(255.0, 262.0, 0.25), np.array([-7.5, 0.1, 3.0, 65_536.3, 1e9]), [0.3, 0.5]]
)
def test_real_positions_are_cast_as_they_are(places, recipe, dtype):
    sampled = Sampled(encoding=Sinusoidal(d=6, rho=50.0), times=GivenArray(np.array(places)))
    report = measure_precision(sampled, dtypes=[dtype], recipes=[recipe])
    check_stages(report, *compute_slowly(ladder_in_digits(6, 50.0), list(places), recipe.resolve(dtype)))
    assert report.exact_distinct == len(places)


@pytest.mark.parametrize("start", [80, 600])
def test_a_table_is_rounded_from_the_position_on_that_it_is_asked_for(start):
    table = np.random.default_rng(5).normal(size=(1040, 2)).round(1)
    given = Learned(values=GivenArray(table))
    part = Learned(values=GivenArray(table[start:]))
    (*_, row), (*_, expected) = (
        measure_precision(one, start_position=first, dtypes=["float16"], recipes=["fp32-then-cast"]).rows
        for one, first in ((given, start), (part, 0))
    )
    assert (row.distinct, row.total) == (expected.distinct, 1040 - start)
    assert row.first_collision == tuple(s + start for s in expected.first_collision)


@pytest.mark.slow
def test_staircases_count_what_is_distinct_so_far():
    report = measure_precision(Sinusoidal(d=6), length=200, dtypes=["bfloat16"], recipes=list(RECIPES))
    for recipe in RECIPES.values():
        own = {stair.stage: stair for stair in report.stairs if stair.recipe == recipe.name}
        stair = own["code"]
        tables, errors = compute_slowly(ladder_in_digits(6, 1e4), range(200), recipe.resolve("bfloat16"))
        for count, distinct, error in zip(stair.counts, stair.distinct, stair.errors, strict=True):
            assert describe_slowly(tables["code"][:count])[0] == distinct
            worst = float(max(one for row in errors[:count] for one in row))
            # between the ends of what is cast to one number, an error may be a little larger than at the first
            assert worst * (1 - 1e-6) - 1e-30 <= error * (1 + 1e-6) if recipe.positions == "float32" else True
            assert error <= worst * (1 + 1e-6)
        assert stair.counts[0] == 1
        assert stair.counts[-1] == 200
        sums = [describe_slowly(tables["sum"][:count])[0] for count in stair.counts]
        assert sums == own.get("sum", stair).distinct.tolist()


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
