"""What bounds an angle's error: never below what is measured, for any types, lengths and recipes, and hardly above."""

import math
from fractions import Fraction

import numpy as np
import pytest

from pe_spectra import Rope, Sinusoidal
from pe_spectra.encodings import GivenArray
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.precision.dtypes import DTYPES, RECIPES, Recipe
from pe_spectra.precision.phase_bounds import bound_phase_errors
from pe_spectra.precision.staircase import measure_precision

#: Products of two float32, rounded twice: in float32 and then in the type.
NARROW_PHASES = Recipe(
    name="fp32", when="", positions="float32", frequencies="float32", phases="dtype", sines="float32", code="float32"
)


@pytest.mark.few(2)
@pytest.mark.parametrize("length", [1, 2, 257, 449, 2049, 66000])
@pytest.mark.parametrize(
    "encoding",
    [Rope(d=8), Sinusoidal(d=4, rho=1e300), Sinusoidal(d=4, rho=1e-6, offset=1)],
    ids=lambda encoding: encoding.spec,
)
def test_no_measured_error_is_above_its_bound(encoding, length):
    for recipe in (RECIPES["fp32"], RECIPES["bf16-positions"], RECIPES["all-bf16"], NARROW_PHASES):
        report = measure_precision(encoding, length=length, dtypes=tuple(DTYPES), recipes=[recipe])
        for row in report.rows:
            assert (row.max_phase_error is None) == (row.phase_error_bound is None), row
            if row.max_phase_error is not None:
                assert 0 <= row.max_phase_error <= row.phase_error_bound, row


@pytest.mark.parametrize("start", [1, 1000003, 2**53 - 300])
def test_nor_from_a_later_position_on(start):
    for row in measure_precision(Rope(d=8), length=300, start_position=start, dtypes=tuple(DTYPES)).rows:
        assert row.max_phase_error is None or row.max_phase_error <= row.phase_error_bound, row


def test_nor_at_real_positions():
    encoding = Sampled(encoding=Sinusoidal(d=4), times=GivenArray(np.linspace(0.1, 3000.3, 200)))
    for row in measure_precision(encoding, dtypes=tuple(DTYPES)).rows:
        assert row.max_phase_error is None or row.max_phase_error <= row.phase_error_bound, row


@pytest.mark.parametrize(("dtype", "length", "error"), [("float16", 4096, 2.83), ("bfloat16", 8192, 38.7)])
def test_bounds_are_close(dtype, length, error):
    report = measure_precision(Rope(d=128), length=length, dtypes=[dtype], recipes=["all-narrow"])
    assert report.rows[-1].max_phase_error == pytest.approx(error, rel=2e-3)
    assert report.rows[-1].phase_error_bound <= 1.1 * report.rows[-1].max_phase_error


def test_a_bound_is_the_sum_of_what_each_step_may_lose():
    steps, frequency, last = RECIPES["all-bf16"].resolve("bfloat16"), 0.3, 1000
    cast = Fraction(77, 256)  # 8 bits: 0.30078125
    moved = 2  # half of 4, the step of bfloat16 from 512 to 1,024
    rounded = 1  # half of 2, its step from 256 to 512, where 1,000 times 0.3 lies
    turned = moved * cast + last * (cast - Fraction(frequency))
    found = bound_phase_errors(np.array([frequency]), last, steps)
    assert found == pytest.approx((moved * frequency, float(turned), float(turned + rounded)), rel=1e-11)
    assert bound_phase_errors(np.array([frequency, 0.0]), 0, steps) == (0.0, 0.0, 0.0)
    assert bound_phase_errors(np.array([0.0]), 70000, RECIPES["all-bf16"].resolve("float16")) == (None, None, None)
    assert bound_phase_errors(np.array([3.0]), 30000, RECIPES["all-bf16"].resolve("float16")).phases is None


@pytest.mark.parametrize("kind", DTYPES.values(), ids=lambda kind: kind.name)
def test_what_rounding_takes_off_is_that_of_the_number_of_the_type_below(kind):
    """One by one: half the distance of two numbers of the type, by frexp of the standard library."""
    drawn = np.random.default_rng(3).uniform(size=200) * 2.0 ** np.arange(-160, 40)
    for value in (*drawn.tolist(), 0.0, kind.step, kind.step / 4, 1.0, 0.75, kind.largest, 5e-324):
        below = math.nextafter(value, 0.0)
        exponent = max(math.frexp(below)[1] - 1, kind.exponent) if below else kind.exponent
        expected = math.ldexp(1.0, exponent - kind.digits + 1) / 2
        expected = max(expected, value - kind.largest) if kind.saturates else expected
        assert kind.bound_roundings(np.array([value])).tolist() == [expected if value else 0.0]
