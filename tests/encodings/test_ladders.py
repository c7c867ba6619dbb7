"""Ladders, ramps, unit vectors and Fourier features: values from their sources, and their views."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.absolute import DfsTrans, OneHot, Ramp
from pe_spectra.encodings.features import FourierFeatures, LearnableSinusoid
from pe_spectra.encodings.parameters import GivenArray
from pe_spectra.encodings.protocol import (
    HasBias,
    HasContinuousTable,
    HasFrequencies,
    HasKernel,
    HasTable,
)
from pe_spectra.encodings.sinusoidal import PixelBands, Sinusoidal, Tape, Tensor2Tensor
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_POSITION

GIVEN = np.array([0.5, -2.0, 0.0, 3.0e-5])

#: An encoding of each kind with frequencies, and of each branch of it; no lone sine among them.
PAIRED = [
    Sinusoidal(d=8, offset=5, scale=0.25),
    Sinusoidal(d=6, rho=0.5, layout="concatenated", offset=1),
    Tensor2Tensor(d=2),
    Tensor2Tensor(d=3, offset=2),
    Tensor2Tensor(d=9, min_timescale=0.7, max_timescale=50.0),
    Tape(d=8, length=3),
    Tape(d=6, rho=0.5, length=100),
    LearnableSinusoid(d=6, rho=50.0),
    LearnableSinusoid(d=8, start="decades"),
    LearnableSinusoid(d=2, start="decades"),
    LearnableSinusoid(values=GIVEN),
    FourierFeatures(d=8, gamma=3.0, seed=4),
    FourierFeatures(d=8, gamma=0.2, coordinate="unit", length=24),
    FourierFeatures(values=GIVEN * 9, coordinate="symmetric", length=31),
    PixelBands(d=2, length=24),
    PixelBands(d=10, length=24),
    PixelBands(d=6, bands="octave", max_freq=7.0, length=24),
]
every_pair = pytest.mark.parametrize("encoding", PAIRED, ids=lambda e: e.label.replace(" ", "-"))


# ----------------------------------------------------------------------------------- values from the sources


def test_tensor2tensor_as_its_code_has_it():
    """Three timescales 1, 100, 10000: log increment ln(1e4)/2, sines then cosines, a column of zeros for odd d."""
    row = [math.sin(3), math.sin(0.03), math.sin(0.0003), math.cos(3), math.cos(0.03), math.cos(0.0003)]
    assert_allclose(Tensor2Tensor(d=6).table(4)[3], row, rtol=0, atol=2e-16)
    assert_allclose(Tensor2Tensor(d=7).table(4)[3], [*row, 0.0], rtol=0, atol=2e-16)
    assert_allclose(Tensor2Tensor(d=6, offset=3).table(1)[0], row, rtol=0, atol=2e-16)
    swapped = [*row[3:], *row[:3], 0.0]
    assert_allclose(Tensor2Tensor(d=7, layout="cosines-first").table(4)[3], swapped, rtol=0, atol=2e-16)


@pytest.mark.parametrize(("d", "least", "most"), [(4, 1.0, 1e4), (64, 1.0, 1e4), (33, 2.5, 700.0), (10, 50.0, 2.0)])
def test_tensor2tensor_by_its_formula(d, least, most):
    half = d // 2
    increment = math.log(most / least) / (half - 1)
    for s, row in enumerate(Tensor2Tensor(d=d, min_timescale=least, max_timescale=most).table(6)):
        angles = [s / least * math.exp(-increment * i) for i in range(half)]
        expected = [math.sin(a) for a in angles] + [math.cos(a) for a in angles] + [0.0] * (d % 2)
        assert_allclose(row, expected, rtol=0, atol=1e-14)


def test_tensor2tensor_meets_both_ends():
    values = Tensor2Tensor(d=512).frequencies().values
    assert values[0] == 1.0
    assert_allclose(values[-1], 1e-4, rtol=1e-16)
    for d in (2, 3):  # one timescale alone: tensor2tensor divides by max(h - 1, 1)
        assert_array_equal(Tensor2Tensor(d=d, min_timescale=4.0).frequencies().values, [0.25])


@pytest.mark.parametrize(("d", "apart"), [(512, 0.035), (64, 0.25)])
def test_tensor2tensor_is_not_the_paper_s_ladder(d, apart):
    ratio = Sinusoidal(d=d).frequencies().values / Tensor2Tensor(d=d).frequencies().values
    assert_allclose(ratio.max() - 1, 10 ** (4 * 2 / d) - 1)
    assert_allclose(1 - 1 / ratio.max(), apart, rtol=0.02)


def test_tape_as_its_code_has_it():
    """ConvTran: pe[:, 0::2] = sin((position * div_term) * (d_model / max_len)), div_term = 10000**(-2i/d)."""
    row = [math.sin(1.5), math.cos(1.5), math.sin(0.015), math.cos(0.015)]
    assert_allclose(Tape(d=4, length=8).table(4)[3], row, rtol=0, atol=2e-16)
    assert_allclose(Tape(d=16, length=16).table(9), Sinusoidal(d=16).table(9), rtol=0, atol=2e-16)


def test_tape_says_where_it_aliases():
    """d = 512 and L = 62: frequencies go up to 8.26 rad/position (L below d/pi = 163)."""
    (note,) = Tape(d=512, length=62).notes
    assert "8.258" in note
    assert Tape(d=512, length=163).notes == ()
    assert Tape(d=512, length=162).notes != ()
    assert Tape(length=62).default_length == 62


def test_learnable_sinusoid_at_its_start():
    row = [math.sin(3), math.sin(0.03), math.cos(3), math.cos(0.03)]
    assert_allclose(LearnableSinusoid(d=4).table(4)[3], row, rtol=0, atol=2e-16)
    assert_allclose(LearnableSinusoid(d=4).frequencies().values, Sinusoidal(d=4).frequencies().values, rtol=1e-16)


def test_learnable_sinusoid_in_decades_as_in_the_code_of_ctle():
    """CTLE: omega = 1 / 10 ** linspace(0, 9, size), and cos(omega t)."""
    encoding = LearnableSinusoid(d=20, start="decades")
    assert_allclose(encoding.frequencies().values, 1 / 10 ** np.linspace(0, 9, 10), rtol=1e-14)
    assert_allclose(encoding.table([3])[0, 10:], np.cos(3 / 10 ** np.linspace(0, 9, 10)), rtol=0, atol=1e-15)


def test_given_frequencies_are_taken_as_they_are():
    encoding = LearnableSinusoid(values=GIVEN)
    assert encoding.d == 8
    row = [math.sin(1.5), math.sin(-6), 0.0, math.sin(9e-5), math.cos(1.5), math.cos(6), 1.0, math.cos(9e-5)]
    assert_allclose(encoding.table(4)[3], row, rtol=0, atol=2e-16)
    assert_array_equal(encoding.frequencies().values, np.abs(GIVEN))
    assert encoding.notes == ()
    for shape in ((1, 4), (4, 1)):
        assert_array_equal(LearnableSinusoid(values=GIVEN.reshape(shape), d=8).table(5), encoding.table(5))


def test_ramp_by_both_denominators():
    assert_array_equal(Ramp(length=5).table(5)[:, 0], np.linspace(0, 1, 5))
    assert_array_equal(Ramp(length=5, denominator="n").table(5)[:, 0], [0.0, 0.2, 0.4, 0.6, 0.8])
    assert_array_equal(Ramp(d=3, length=11).table([7]), [[0.7, 0.7, 0.7]])
    assert_array_equal(Ramp(d=2, length=11).table_at(np.array([2.5, 20.0])), [[0.25, 0.25], [2.0, 2.0]])
    assert np.linalg.matrix_rank(Ramp(d=16).table(80)) == 1


def test_ramp_in_float16_as_counted():
    """Of 4096 levels of [0, 1] float16 keeps 3073, of 8192 it keeps 4097."""
    for length, kept in ((4096, 3073), (8192, 4097)):
        assert len(np.unique(Ramp(length=length).table(length).astype(np.float16))) == kept
    for denominator, first in (("n-1", 2051), ("n", 2050)):
        for length, merged in ((first - 1, 0), (first, 1)):
            table = Ramp(length=length, denominator=denominator).table(length)
            assert len(np.unique(table.astype(np.float16))) == length - merged


def test_one_hot_is_the_identity():
    assert_array_equal(OneHot(d=4).table(4), np.eye(4))
    assert_array_equal(OneHot(d=4).table([3, 1, 3]), np.eye(4)[[3, 1, 3]])
    assert_array_equal(OneHot(d=4).kernel([-1, 0, 1, 4]), [[0.0, 1.0, 0.0, 0.0]])
    assert OneHot(d=4).rows == OneHot(d=4).default_length == OneHot(d=4).default_grid == 4


def test_fourier_features_of_given_frequencies():
    """Li et al. 2021, Eq. (2): (cos x W^T, sin x W^T)/sqrt(D), W of D/2 rows; here at x = 3."""
    row = np.array([math.cos(1.5), math.cos(-6.0), math.sin(1.5), math.sin(-6.0)]) / 2
    assert_allclose(FourierFeatures(values=np.array([0.5, -2.0])).table(4)[3], row, rtol=0, atol=2e-16)


@pytest.mark.parametrize("coordinate", ["position", "unit", "symmetric"])
def test_fourier_features_by_their_formula(coordinate):
    encoding = FourierFeatures(d=10, gamma=0.3, seed=7, coordinate=coordinate, **_length(coordinate, 12))
    weights = np.random.Generator(np.random.PCG64(7)).standard_normal(5) / 0.3
    for s, row in enumerate(encoding.table(12)):
        x = {"position": s, "unit": s / 12, "symmetric": 2 * s / 11 - 1}[coordinate]
        expected = [math.cos(w * x) for w in weights] + [math.sin(w * x) for w in weights]
        assert_allclose(row, np.array(expected) / math.sqrt(10), rtol=0, atol=1e-14)


def _length(coordinate, length):
    return {} if coordinate == "position" else {"length": length}


def test_drawn_frequencies_have_the_kernel_that_gamma_says():
    encoding = FourierFeatures(d=1 << 15, gamma=6.0)
    assert_allclose(np.std(encoding.weights), 1 / 6, rtol=0.02)
    lags = np.arange(20)
    assert_allclose(encoding.kernel(lags)[0], 0.5 * np.exp(-(lags**2) / 72), rtol=0, atol=0.02)
    assert encoding.is_random
    assert not FourierFeatures(values=GIVEN).is_random
    assert not np.array_equal(FourierFeatures(seed=1).weights, FourierFeatures(seed=2).weights)


def test_pixel_bands_as_their_code_has_them():
    """Bands 1 and 5 (max_freq 10) at x = -1, -1/3, 1/3, 1: row 2 is sine and cosine of pi/3 and 5 pi/3."""
    row = [math.sqrt(0.75), -math.sqrt(0.75), 0.5, 0.5]
    assert_allclose(PixelBands(d=4, length=4).table(4)[2], row, rtol=0, atol=2e-16)


@pytest.mark.parametrize(("bands", "max_freq"), [("linear", 10.0), ("linear", 7.5), ("octave", 224.0)])
def test_pixel_bands_by_their_formula(bands, max_freq):
    encoding = PixelBands(d=16, bands=bands, max_freq=max_freq, length=14)
    b = np.linspace(1, max_freq / 2, 8) if bands == "linear" else 2 ** np.linspace(0, math.log2(max_freq) - 1, 8)
    angles = np.outer(np.linspace(-1, 1, 14), b * math.pi)
    assert_allclose(encoding.table(14), np.hstack([np.sin(angles), np.cos(angles)]), rtol=0, atol=1e-12)
    assert_allclose(encoding.frequencies().values, b * math.pi * 2 / 13, rtol=1e-14)
    assert bool(encoding.notes) == (max_freq > 13)


# ----------------------------------------------------------------------------------- offset and scale of sinusoidal


def test_offset_moves_the_positions_and_scale_multiplies():
    for layout in ("interleaved", "concatenated"):
        for d in (7, 8):
            plain = Sinusoidal(d=d, layout=layout)
            moved = Sinusoidal(d=d, layout=layout, offset=3, scale=d**-0.5)
            assert_array_equal(moved.table(9), plain.table(range(3, 12)) * d**-0.5)
            assert_allclose(moved.kernel(range(9)), plain.kernel(range(9)) / d, rtol=1e-14, atol=1e-15)
            assert moved.frequencies().amplitude == d**-0.5
            assert_array_equal(moved.frequencies().values, plain.frequencies().values)


def test_scaled_sinusoid_of_x_transformers():
    """ScaledSinusoidalEmbedding at its start: (sin, cos)/sqrt(dim), theta**(-i/half), sines first."""
    encoding = Sinusoidal(d=4, layout="concatenated", scale=0.5)
    assert_allclose(encoding.table([2])[0], [math.sin(2) / 2, math.sin(0.02) / 2, math.cos(2) / 2, math.cos(0.02) / 2])


def test_the_lone_sine_is_a_cosine_of_its_phase():
    for offset in (0, 1, 1000):
        encoding = Sinusoidal(d=5, rho=0.01, offset=offset)
        found = encoding.frequencies()
        cosine = np.cos(found.values[-1] * np.arange(6) + found.phases[-1])
        assert_allclose(encoding.table(6)[:, -1], cosine, rtol=0, atol=1e-12)
    assert Sinusoidal(d=5).frequencies().phases[-1] == -np.pi / 2


def test_positions_end_where_doubles_do():
    assert np.isfinite(Sinusoidal(d=4, offset=7).table([MAX_POSITION - 7])).all()
    for encoding in (Sinusoidal(d=4, offset=7), Tensor2Tensor(d=4, offset=7)):
        with pytest.raises(InputError, match=r"offset=7; 0 to 9007199254740985"):
            encoding.table([MAX_POSITION - 6])


# ----------------------------------------------------------------------------------- digits


def _power(base, exponent):
    return mpmath.power(base, mpmath.mpf(exponent.numerator) / exponent.denominator)


@pytest.mark.parametrize(
    ("encoding", "first", "ratio"),
    [
        (
            Tensor2Tensor(d=6, min_timescale=3.0, max_timescale=1e5),
            Fraction(1, 3),
            (Fraction(3, 100000), Fraction(1, 2)),
        ),
        (Tape(d=6, length=7), Fraction(6, 7), (10000, Fraction(-1, 3))),
        (Tape(d=6, rho=1e-6, length=1), Fraction(6), (Fraction(1e-6), Fraction(-1, 3))),
        (LearnableSinusoid(d=6, rho=7.0), Fraction(1), (7, Fraction(-1, 3))),
        (LearnableSinusoid(d=6, start="decades"), Fraction(1), (10, Fraction(-9, 2))),
        (LearnableSinusoid(values=np.array([0.3, 0.3 * 2**-9, 0.3 * 2**-18])), Fraction(0.3), (2, Fraction(-9))),
    ],
)
def test_entries_at_far_positions_have_all_their_digits(encoding, first, ratio):
    with mpmath.workdps(60):
        base = mpmath.mpf(Fraction(ratio[0]).numerator) / Fraction(ratio[0]).denominator
        start = mpmath.mpf(first.numerator) / first.denominator
        w = [start * _power(base, ratio[1] * i) for i in range(3)]
        for s in (1, 12345, MAX_POSITION - 1, MAX_POSITION):
            sines, cosines = [float(mpmath.sin(x * s)) for x in w], [float(mpmath.cos(x * s)) for x in w]
            row = encoding.table([s])[0]
            if isinstance(encoding, Tape):
                row = np.concatenate([row[::2], row[1::2]])
            assert_allclose(row, sines + cosines, rtol=4e-16, atol=2e-16)


@every_pair
def test_frequencies_are_right_to_31_digits(encoding):
    found = encoding.frequencies()
    with mpmath.workdps(60):
        for index, (high, low) in enumerate(zip(found.values, found.low, strict=True)):
            turns = mpmath.mpf(str(encoding.turns(index)))
            error = abs(mpmath.mpf(high) + mpmath.mpf(low) - 2 * mpmath.pi * turns)
            assert error <= mpmath.mpf(10) ** -31 * high


@pytest.mark.parametrize("length", [2, 7, 224])
def test_symmetric_coordinates_have_all_their_digits(length):
    bands = PixelBands(d=8, max_freq=200.0, length=length)
    features = FourierFeatures(values=np.array([700.25, -3.0]), coordinate="symmetric", length=length)
    with mpmath.workdps(50):
        for s in (0, 1, length - 1):
            x = mpmath.mpf(2 * s) / (length - 1) - 1
            angles = [mpmath.pi * (1 + mpmath.mpf(99 * i) / 3) * x for i in range(4)]
            expected = [float(mpmath.sin(a)) for a in angles] + [float(mpmath.cos(a)) for a in angles]
            assert_allclose(bands.table([s])[0], expected, rtol=4e-16, atol=2e-16)
            angles = [mpmath.mpf(700.25) * x, -3 * x]
            expected = [float(mpmath.cos(a)) / 2 for a in angles] + [float(mpmath.sin(a)) / 2 for a in angles]
            assert_allclose(features.table([s])[0], expected, rtol=4e-16, atol=2e-16)


# ----------------------------------------------------------------------------------- views


@every_pair
def test_kernel_is_the_dot_product_of_any_two_rows(encoding):
    table = encoding.table(24)
    lags = np.subtract.outer(np.arange(24), np.arange(24))
    kernel = encoding.kernel(lags.ravel())
    assert kernel.shape == (1, 576)
    assert_allclose(table @ table.T, kernel[0].reshape(24, 24), rtol=0, atol=1e-14 * encoding.d)
    assert_allclose(encoding.kernel(np.arange(24))[0], kernel[0].reshape(24, 24)[:, 0], rtol=0, atol=1e-13)


@every_pair
def test_kernel_is_the_sum_over_its_frequencies(encoding):
    found = encoding.frequencies()
    lags = np.arange(30)
    total = found.amplitude**2 * np.cos(np.outer(lags, found.values)) @ found.masses
    assert_allclose(encoding.kernel(lags)[0], total, rtol=0, atol=1e-12)
    assert 2 * found.masses.sum() == encoding.d - (isinstance(encoding, Tensor2Tensor) and encoding.d % 2)
    assert not found.values.flags.writeable
    assert np.all(np.abs(found.low) <= np.spacing(found.values))


@pytest.mark.parametrize("encoding", [*PAIRED, Sinusoidal(d=5, offset=2), Ramp(d=2)], ids=lambda e: e.label)
def test_real_positions_continue_the_integers(encoding):
    assert_allclose(encoding.table_at(np.arange(20.0)), encoding.table(20), rtol=0, atol=1e-11)
    between = encoding.table_at(np.array([3.0, 3.25, 3.5]))
    assert between.shape == (3, encoding.d)
    if isinstance(encoding, Sinusoidal):
        assert_allclose(between[1, 0], encoding.scale * math.sin(3.25 + encoding.offset), rtol=0, atol=1e-14)
    for times in ([math.nan], [[1.0]], [1e300]):
        with pytest.raises(InputError):
            encoding.table_at(np.array(times))


@every_pair
def test_equal_keys_are_equal_rows(encoding):
    size = min(encoding.rows or 60, 60)
    keys, table = encoding.exact_key(np.arange(size)), encoding.table(size)
    distances = np.abs(table[:, None, :] - table[None, :, :]).max(axis=2)
    assert_array_equal(np.equal.outer(keys, keys), distances < 1e-12)
    assert len(encoding.theorem.text) > 20


@pytest.mark.parametrize(
    ("bands", "max_freq", "d", "shared"),
    [
        ("linear", 10.0, 10, True),  # 1, 2, 3, 4, 5
        ("linear", 10.0, 4, True),  # 1, 5
        ("linear", 10.0, 256, False),
        ("linear", 9.0, 4, False),  # 1, 4.5
        ("linear", 2.0, 64, True),  # 1 alone, again and again
        ("octave", 224.0, 2, True),  # 1 alone
        ("octave", 54.0, 8, True),  # 1, 3, 9, 27
        ("octave", 32.0, 10, True),  # 1, 2, 4, 8, 16
        ("octave", 32.0, 8, False),
        ("octave", 2.0, 8, True),
    ],
)
def test_both_ends_share_a_code_where_all_bands_are_integers(bands, max_freq, d, shared):
    encoding = PixelBands(d=d, bands=bands, max_freq=max_freq, length=9)
    keys, table = encoding.exact_key(np.arange(9)), encoding.table(9)
    assert (keys[0] == keys[8]) == shared == np.allclose(table[0], table[8], rtol=0, atol=1e-12)
    assert len(set(keys)) == 9 - shared
    assert len(np.unique(table.round(9) + 0.0, axis=0)) == 9 - shared
    assert ("all bands are integers" in encoding.theorem.text) == shared


def test_frequencies_that_are_all_zero_tell_nothing_apart():
    for encoding in (LearnableSinusoid(values=np.zeros(3)), FourierFeatures(values=np.zeros(3))):
        assert_array_equal(encoding.exact_key(np.arange(4)), np.zeros(4))
        assert encoding.theorem.kind == "constant"
        assert len(np.unique(encoding.table(4), axis=0)) == 1


def test_each_has_the_views_it_truly_has():
    for encoding in PAIRED:
        for view in (HasTable, HasContinuousTable, HasFrequencies, HasKernel):
            assert isinstance(encoding, view), (encoding, view)
        assert encoding.theorem is not None
        assert not isinstance(encoding, HasBias)
    assert not isinstance(Ramp(), HasKernel | HasFrequencies)
    assert isinstance(Ramp(), HasContinuousTable)
    assert not isinstance(OneHot(), HasContinuousTable | HasFrequencies)


def test_lattices_have_a_point_for_each_column_or_for_each_row():
    for encoding in (Sinusoidal(d=9), Tensor2Tensor(d=9), Tape(d=8), LearnableSinusoid(d=8), OneHot(d=9)):
        assert encoding.default_grid == encoding.d
    assert FourierFeatures(d=8).default_grid == 8
    assert FourierFeatures(d=8, coordinate="unit", length=30).default_grid == 30
    assert PixelBands(length=30).default_grid == Ramp(length=30).default_grid == 30


# ----------------------------------------------------------------------------------- what is refused, and what is said


def test_positions_beyond_the_rows_have_no_code():
    limited = (
        Ramp(length=5),
        OneHot(d=5),
        PixelBands(d=4, length=5),
        FourierFeatures(coordinate="unit", length=5),
        FourierFeatures(coordinate="symmetric", length=5),
    )
    for encoding in limited:
        assert encoding.rows == len(encoding.table(5)) == 5
        with pytest.raises(InputError, match=r"has no row \(5\); 0 to 4 is accepted"):
            encoding.table([5])
    assert FourierFeatures().rows is None


@pytest.mark.parametrize(
    ("cls", "parameters", "message"),
    [
        (Tape, {"d": 7}, "tape: d is odd"),
        (PixelBands, {"d": 7}, "pixel-bands: d is odd"),
        (FourierFeatures, {"d": 7}, "fourier-features: d is odd"),
        (LearnableSinusoid, {"d": 7}, "learnable-sinusoid: d is odd"),
        (LearnableSinusoid, {"d": 6, "values": GIVEN}, "d contradicts the given values"),
        (FourierFeatures, {"d": 256, "values": GIVEN}, "d contradicts the given values"),
        (LearnableSinusoid, {"values": np.ones((2, 2))}, "table has shape"),
        (FourierFeatures, {"values": np.ones((2, 2))}, "table has shape"),
        (FourierFeatures, {"values": np.array([1.0, 2e6])}, "out of range"),
        (LearnableSinusoid, {"values": np.array([1.0, math.nan])}, "not finite"),
        (LearnableSinusoid, {"values": GIVEN, "rho": 5.0}, "no meaning here"),
        (LearnableSinusoid, {"start": "decades", "rho": 5.0}, "no meaning here"),
        (FourierFeatures, {"values": GIVEN, "gamma": 5.0}, "no meaning here"),
        (FourierFeatures, {"length": 5}, "no meaning here"),
        (Ramp, {"length": 1}, "out of range"),
        (Ramp, {"denominator": "n+1"}, "not known"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(cls, parameters, message):
    with pytest.raises(InputError, match=message):
        cls(**parameters)


@every_pair
def test_an_encoding_can_be_built_again_from_what_it_was_given(encoding):
    again = type(encoding)(**encoding.given)
    assert again == encoding
    assert hash(again) == hash(encoding)
    assert_array_equal(again.table(5), encoding.table(5))


def test_files_name_what_they_gave():
    given = GivenArray(GIVEN, origin="omega.npy", spec="omega.npy")
    assert LearnableSinusoid(values=given).spec == "learnable-sinusoid:table=omega.npy,d=8"
    assert FourierFeatures(values=given).spec == "fourier-features:table=omega.npy,d=8,coordinate=position"
    assert LearnableSinusoid().spec == "learnable-sinusoid:d=256,start=ladder,rho=10000"


def test_dead_columns_and_untrained_frequencies_are_said():
    assert any("last column is 0" in note for note in Tensor2Tensor(d=7).notes)
    assert Tensor2Tensor(d=8).notes == ()
    assert any("beyond pi" in note for note in Tensor2Tensor(d=8, min_timescale=0.25).notes)
    assert any("before training" in note for note in LearnableSinusoid().notes)
    assert any("drawn at random" in note for note in FourierFeatures().notes)


def test_positions_are_integers_from_0_to_the_last_that_doubles_have():
    encoding = Sinusoidal(d=4)
    assert encoding.table([MAX_POSITION]).shape == (1, 4)
    for position in (-1, MAX_POSITION + 1):
        with pytest.raises(InputError, match="a position is out of range"):
            encoding.table([0, position])


def test_dfstrans_starts_at_1_and_both_ends_have_another_factor():
    """c_s (cos w_k (s + 1), sin w_k (s + 1)), w_k = 2 pi k/4: the factor belongs to the first and last position."""
    half, full = math.sqrt(1 / 4), math.sqrt(2 / 4)
    rows = [[half, 0, 0, half], [full, 0, -full, 0], [full, 0, 0, -full], [half, 0, half, 0]]
    assert_allclose(DfsTrans(d=4).table(4), rows, rtol=0, atol=2e-16)
