"""Rounding to narrow types as it is defined: against fractions and other libraries."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.precision.dtypes import DTYPES, SATURATING, STORED_TYPES, add, find_stored_type, multiply, round_to
from tests.precision.slowly import NARROW, find_dtype, round_fraction, same


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
    values, largest = (halves[:, None] | offsets).ravel().view(np.float32), np.float32(DTYPES[name].largest)
    with np.errstate(all="ignore"):
        clipped = np.clip(values, -largest, largest) if name.endswith(SATURATING) else values
        expected = clipped.astype(find_dtype(name)).astype(np.float32)
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


@pytest.mark.few(2)
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
    assert round_to(np.array([-1e300, math.inf]), DTYPES["float8_e5m2-saturating"]).tolist() == [-57344.0, 57344.0]


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


@pytest.mark.few(1)
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


# ----------------------------------------------------------------------------------- the type of what is stored


@pytest.mark.parametrize("name", ["float4_e2m1fn", "float8_e5m2", "float8_e4m3fn", "bfloat16", "float16", "float32"])
def test_the_stored_type_is_seen_in_the_numbers(name):
    kind, draw = STORED_TYPES[name], np.random.default_rng(0)
    values = draw.standard_normal((64, 64)) * 10.0 ** draw.uniform(-9, 4, (64, 64))
    wide = values.astype(np.float32).astype(float)
    rounded = wide.astype(find_dtype(name)).astype(float)
    rounded[~np.isfinite(rounded)] = 0.0
    assert find_stored_type(name, rounded) == name
    np.testing.assert_array_equal(round_to(np.clip(wide, -kind.largest, kind.largest), kind) * (rounded != 0), rounded)
    # a copy in a wider type is told from the widest types alone: small integers are numbers of eight bits, too
    assert find_stored_type("float64", rounded) == ("bfloat16" if kind.digits < 8 else name)


def test_the_stored_type_holds_every_number():
    table = np.ones((4096, 3))
    assert find_stored_type("float16", table, -table, 0 * table) == "float16"  # these are in every type
    table[1237, 1] = 1 + 2.0**-20
    assert find_stored_type("float64", table) == "float32"
    assert find_stored_type("float64", np.full(3, 0.5), table) == "float32"
    table[2051, 2] = 1 + 2.0**-40
    assert find_stored_type("float64", table) == find_stored_type("text", table) == "float64"
    assert find_stored_type("float64", np.array([[2.0**-600, 1.0]])) == "float64"
    assert find_stored_type("float64", np.array([[2.0**-149, 65536.0]])) == "float32"
    assert find_stored_type("float64", np.array([[2.0**-24, 1.0 + 2.0**-10]])) == "float16"
    assert find_stored_type("float8_e4m3fn", np.array([[0.5, 1.5]])) == "float8_e4m3fn"


def test_types_that_are_stored_are_in_order():
    digits = [kind.digits for kind in STORED_TYPES.values()]
    assert digits == sorted(digits)
    assert {name for name in DTYPES if not name.endswith(SATURATING)} == set(STORED_TYPES) - {"float4_e2m1fn"}
    info = ml_dtypes.finfo(ml_dtypes.float4_e2m1fn)
    four = STORED_TYPES["float4_e2m1fn"]
    assert (four.digits, four.largest, four.step, four.exponent) == (info.nmant + 1, 6.0, 0.5, 0)
    assert (float(info.max), float(info.smallest_subnormal), float(info.smallest_normal)) == (6.0, 0.5, 1.0)
