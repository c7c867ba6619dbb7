"""Laws that hold for every encoding of the catalogue, and one value with its source for each."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import (
    ENCODINGS,
    Encoding,
    HasExactKey,
    HasFrequencies,
    HasKernel,
    HasLadder,
    HasLatticeMasses,
    HasTable,
    find_encoding,
)
from pe_spectra.encodings.parameters import format_value
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.numbers import Choice, IntegerRange, RealRange

#: Values of each parameter for the laws; a parameter that is not here has its default.
VALUES = {"d": (2, 3, 4, 7, 16, 33, 256), "rho": (0.5, 1.0, 100.0, 1e9), "layout": ("interleaved", "concatenated")}
POSITIONS = np.array([0, 1, 2, 3, 5, 8, 31, 32, 33, 1000])

#: name -> (parameters, position, what is added there, source). A new encoding needs its own line.
REFERENCES = {
    "sinusoidal": (
        {"d": 4, "rho": 10000.0},
        3,
        [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)],
        "Vaswani et al. 2017, Sec. 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same",
    ),
    "dft": (
        {"d": 4},
        3,
        [0.5, 0.0, -math.sqrt(0.5), -0.5],
        "Ide, Labaien & Chen 2024, Eq. (17)-(21): sqrt(2/4) (1/sqrt 2, cos(3 pi/2), sin(3 pi/2), cos(3 pi)/sqrt 2)",
    ),
    "dfstrans": (
        {"d": 4},
        1,
        [math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0],
        "dfstrans/DFStrans, positional_encodings.py, class DFTEncoding: sqrt(2/4) (1, 0, cos pi, sin pi) in row 1 of 4",
    ),
}


def list_variants():
    """Each encoding with each value of each parameter, one at a time; what it refuses is left out."""
    for cls in ENCODINGS:
        built = {cls(): None}
        for parameter in cls.accepts:
            for value in VALUES.get(parameter.name, ()):
                try:
                    built[cls(**{parameter.name: value})] = None
                except InputError:
                    continue
                if parameter.name != "d":
                    built[cls(d=7, **{parameter.name: value})] = None
        yield from (pytest.param(encoding, id=encoding.label.replace(" ", "-")) for encoding in built)


VARIANTS = list(list_variants())
every_encoding = pytest.mark.parametrize("encoding", VARIANTS)
every_class = pytest.mark.parametrize("cls", ENCODINGS)


def require(encoding, view):
    if not isinstance(encoding, view):
        pytest.skip(f"{encoding.name} has no such view")


# ----------------------------------------------------------------------------------- one reference each


@every_class
def test_reference_value(cls):
    assert cls.name in REFERENCES, f"add a value of {cls.name} with its source to REFERENCES"
    parameters, position, expected, source = REFERENCES[cls.name]
    assert len(source) > 20
    assert_allclose(cls(**parameters).table(4)[position], expected, rtol=0, atol=2e-16)


def test_no_reference_without_an_encoding():
    assert set(REFERENCES) == {cls.name for cls in ENCODINGS}


# ----------------------------------------------------------------------------------- the class


@every_class
def test_a_class_says_what_it_is(cls):
    assert issubclass(cls, Encoding)
    for text in (cls.summary, cls.formula, cls.source, cls.pitfalls):
        assert len(text) > 10
        assert "\n" not in text
        assert text == text.strip()
    assert cls.__doc__
    assert dataclasses.is_dataclass(cls)
    assert getattr(cls, "__final__", False)
    assert find_encoding(cls.name) is cls


@every_class
def test_parameters_are_the_fields(cls):
    assert [parameter.name for parameter in cls.accepts] == [field.name for field in dataclasses.fields(cls)]
    encoding = cls()
    for parameter, field in zip(cls.accepts, dataclasses.fields(cls), strict=True):
        assert len(parameter.meaning) > 10
        assert parameter.accepts.accepted
        assert field.default == parameter.default == encoding.parameters[parameter.name]
        assert type(field.default) is type(parameter.default)
        assert parameter.accepts.parse(format_value(parameter.default), "x") == parameter.default


def list_bounds(accepts):
    """Values that are accepted, and values just beyond."""
    if isinstance(accepts, IntegerRange):
        return [accepts.minimum, accepts.maximum], [accepts.minimum - 1, accepts.maximum + 1, accepts.minimum + 0.5]
    if isinstance(accepts, RealRange):
        inside = [accepts.minimum, accepts.maximum]
        beyond = [math.nextafter(accepts.minimum, -math.inf), math.nextafter(accepts.maximum, math.inf)]
        return inside, [*beyond, math.nan, math.inf, -math.inf, "x"]
    assert isinstance(accepts, Choice)
    return list(accepts.members), ["", "x", accepts.members[0].upper()]


@every_class
def test_parameters_are_accepted_and_refused_at_their_bounds(cls):
    for parameter in cls.accepts:
        inside, beyond = list_bounds(parameter.accepts)
        for value in inside:
            assert getattr(cls(**{parameter.name: value}), parameter.name) == value
        for value in beyond:
            with pytest.raises(InputError) as caught:
                cls(**{parameter.name: value})
            assert str(caught.value).startswith(f"{cls.name}: {parameter.name} ")


def test_names_are_unique_and_can_be_typed():
    names = [cls.name for cls in ENCODINGS]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    with pytest.raises(InputError):
        find_encoding("gauss")


@every_encoding
def test_frozen_and_comparable(encoding):
    name = next(iter(encoding.parameters))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(encoding, name, encoding.parameters[name])
    same = type(encoding)(**encoding.parameters)
    assert same == encoding
    assert hash(same) == hash(encoding)
    assert encoding.label.startswith(encoding.name)
    with pytest.raises(TypeError):
        type(encoding)(*encoding.parameters.values())


# ----------------------------------------------------------------------------------- tables


@every_encoding
def test_table_has_shape_type_and_finite_numbers(encoding):
    require(encoding, HasTable)
    for positions, count in ((5, 5), (POSITIONS, len(POSITIONS)), ([7], 1), (range(3), 3), (1, 1)):
        table = encoding.table(positions)
        assert table.shape == (count, encoding.d)
        assert table.dtype == np.float64
        assert np.isfinite(table).all()
        assert np.abs(table).max() <= 1


@every_encoding
def test_table_is_the_same_every_time(encoding):
    require(encoding, HasTable)
    first = encoding.table(POSITIONS)
    assert_array_equal(first, type(encoding)(**encoding.parameters).table(list(POSITIONS)))
    assert encoding.table(POSITIONS) is not first
    assert_array_equal(encoding.table(9), encoding.table(range(9)))


@every_encoding
def test_table_refuses_what_is_no_position(encoding):
    require(encoding, HasTable)
    for positions in ([-1], [1.5], [2**53 + 1], [[1, 2]], ["a"]):
        with pytest.raises(InputError):
            encoding.table(positions)
    assert np.isfinite(encoding.table([2**53])).all()


@every_class
def test_a_table_that_cannot_be_held_is_refused_before_anything_is(cls):
    for count in (MAX_HELD_ENTRIES // 256 + 1, 10**13):
        with pytest.raises(InputError, match="too large to hold"):
            cls(d=256).table(count)


# ----------------------------------------------------------------------------------- kernels


@every_encoding
def test_kernel_is_symmetric(encoding):
    require(encoding, HasKernel)
    lags = np.arange(40)
    kernel = encoding.kernel(lags)
    assert kernel.shape == (1, 40)
    assert kernel.dtype == np.float64
    assert_array_equal(kernel, encoding.kernel(-lags))
    assert_array_equal(kernel, encoding.kernel(lags))
    assert np.all(np.abs(kernel) <= kernel[0, 0])


@every_encoding
def test_kernel_at_zero_is_the_squared_norm_of_a_row(encoding):
    require(encoding, HasKernel)
    squared = np.sum(encoding.table(64) ** 2, axis=1)
    zero = encoding.kernel([0])[0, 0]
    if has_lone_sine(encoding):
        # the lone sine of odd d counts one half, its mean over all positions
        assert np.all(np.abs(squared - zero) <= 0.5 + 1e-12)
    else:
        assert_allclose(squared, zero, rtol=1e-14)


def has_lone_sine(encoding):
    return isinstance(encoding, HasLadder) and encoding.d % 2 == 1


@every_encoding
def test_kernel_is_the_dot_product_of_two_rows(encoding):
    require(encoding, HasKernel)
    table = encoding.table(24)
    gram = table @ table.T
    lags = np.subtract.outer(np.arange(24), np.arange(24))
    expected = encoding.kernel(lags.ravel())[0].reshape(24, 24)
    if has_lone_sine(encoding):
        frequency = encoding.frequencies().values[-1]
        expected = expected - 0.5 * np.cos(frequency * np.add.outer(np.arange(24), np.arange(24)))
    assert_allclose(gram, expected, rtol=0, atol=1e-14 * encoding.d)


@every_encoding
def test_kernel_is_the_sum_over_its_frequencies(encoding):
    require(encoding, HasKernel)
    require(encoding, HasFrequencies)
    lags = np.arange(50)
    frequencies = encoding.frequencies()
    expected = np.cos(np.outer(lags, frequencies.values)) @ frequencies.masses
    scale = encoding.kernel([0])[0, 0] / frequencies.masses.sum()
    assert_allclose(encoding.kernel(lags)[0], expected * scale, rtol=0, atol=1e-12 * frequencies.masses.sum())


# ----------------------------------------------------------------------------------- frequencies


@every_encoding
def test_frequencies_are_read_only_arrays_of_one_length(encoding):
    require(encoding, HasFrequencies)
    frequencies = encoding.frequencies()
    for field in dataclasses.fields(frequencies):
        array = getattr(frequencies, field.name)
        assert array.shape == frequencies.values.shape
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert np.all(frequencies.values >= 0)
    assert np.all(np.abs(frequencies.low) <= np.spacing(frequencies.values))
    assert set(frequencies.masses) <= {0.5, 1.0}
    again = type(encoding)(**encoding.parameters).frequencies()
    assert_array_equal(frequencies.values, again.values)
    assert_array_equal(frequencies.low, again.low)


@every_encoding
def test_masses_count_columns(encoding):
    """A mass of one is a pair of columns; the end columns of dfstrans that are 0 count for nothing."""
    require(encoding, HasFrequencies)
    zero = int(np.sum(~encoding.table(7).any(axis=0))) if encoding.name == "dfstrans" else 0
    assert 2 * encoding.frequencies().masses.sum() == encoding.d - zero


@every_encoding
def test_turns_are_the_frequencies(encoding):
    require(encoding, HasFrequencies)
    frequencies = encoding.frequencies()
    turns = [encoding.turns(index) for index in range(len(frequencies.values))]
    assert_allclose([float(turn) * 2 * math.pi for turn in turns], frequencies.values, rtol=1e-15)


@every_encoding
def test_masses_on_the_lattice_are_those_of_the_frequencies(encoding):
    require(encoding, HasLatticeMasses)
    masses = encoding.lattice_masses()
    assert masses.shape == (encoding.default_grid // 2 + 1,)
    found = np.zeros_like(masses)
    for index, mass in enumerate(encoding.frequencies().masses):
        place = encoding.turns(index) * encoding.default_grid
        assert place == Fraction(int(place))
        found[int(place)] += 2 * mass
    assert_array_equal(found, masses)


# ----------------------------------------------------------------------------------- exact keys


@every_encoding
def test_equal_keys_are_equal_rows(encoding):
    """At small sizes the rows tell: two that differ do so by far more than their rounding."""
    require(encoding, HasExactKey)
    require(encoding, HasTable)
    for length in (1, 2, 3, encoding.d, 2 * encoding.d + 3):
        size = min(length, 60)
        keys, table = encoding.exact_key(np.arange(size)), encoding.table(size)
        assert keys.shape == (size,)
        assert keys.dtype == np.int64
        distances = np.abs(table[:, None, :] - table[None, :, :]).max(axis=2)
        assert_array_equal(np.equal.outer(keys, keys), distances < 1e-9)


@every_encoding
def test_the_theorem_has_a_name_and_a_sentence(encoding):
    require(encoding, HasExactKey)
    assert encoding.theorem.kind.replace("-", "").isalnum()
    assert len(encoding.theorem.text) > 20


@every_encoding
def test_the_lattice_of_the_paper_has_a_point_for_each_column(encoding):
    assert encoding.default_grid == encoding.d
