"""Interpolation to another size, against the slow formula, and what it does to frequencies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import InputError, Learned, read_encoding
from pe_spectra.inspection import resize_table
from pe_spectra.inspection.portrait import draw_portrait
from pe_spectra.inspection.resize import resize_encoding
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.vocabulary import RESIZE_METHODS as METHODS
from tests import planted
from tests.making import give_table

# ----------------------------------------------------------------------------------- resizing


def build_resize_matrix(old, new, **options):
    """The matrix that takes `old` values to `new` ones: what becomes of the unit vectors."""
    return resize_table(np.eye(old), new, **options)


def weigh_cubic(distance, keys=-0.75):
    """Keys' convolution, written from its definition."""
    x = abs(distance)
    if x <= 1:
        return (keys + 2) * x**3 - (keys + 3) * x**2 + 1
    if x < 2:
        return keys * x**3 - 5 * keys * x**2 + 8 * keys * x - 4 * keys
    return 0.0


def interpolate_slowly(values, new, method, align_corners):
    """One output after another, as PyTorch's documentation words it."""
    old = len(values)
    result = []
    for i in range(new):
        source = i * (old - 1) / (new - 1) if align_corners else (i + 0.5) * old / new - 0.5
        if method == "bilinear":
            source = max(source, 0.0)
            low = int(np.floor(source))
            high = min(low + 1, old - 1)
            result.append((1 - (source - low)) * values[low] + (source - low) * values[high])
        else:
            low = int(np.floor(source))
            taps = range(low - 1, low + 3)
            result.append(sum(weigh_cubic(source - j) * values[min(max(j, 0), old - 1)] for j in taps))
    return np.array(result)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", ["bicubic", "bilinear"])
@pytest.mark.parametrize("sizes", [(14, 24), (24, 14), (5, 3), (2, 9), (512, 1024), (16, 16)], ids=str)
def test_interpolation_is_that_of_the_slow_formula(sizes, method, align_corners):
    values = planted.make_generator(0).standard_normal(sizes[0])
    matrix = build_resize_matrix(*sizes, method=method, align_corners=align_corners)
    assert_allclose(matrix @ values, interpolate_slowly(values, sizes[1], method, align_corners), atol=1e-12)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_weights_sum_to_one_and_equal_sizes_change_nothing(method, align_corners):
    for sizes in ((14, 24), (24, 14), (1, 5), (5, 1), (7, 8), (100, 37)):
        matrix = build_resize_matrix(*sizes, method=method, align_corners=align_corners)
        assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert_array_equal(build_resize_matrix(9, 9, method=method, align_corners=align_corners), np.eye(9))


def test_values_known_by_hand():
    # interpolate([1, 2, 3, 4], size 8, linear): the corners are held, then steps of 1/2 from 1.25 on
    line = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert_allclose(resize_table(line, 8, method="bilinear")[:, 0], [1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4])
    assert_allclose(resize_table(line, 7, method="bilinear", align_corners=True)[:, 0], np.arange(1, 4.1, 0.5))
    # cubic with A = -3/4 at distances 7/4, 3/4, 1/4, 5/4 and 5/4, 1/4, 3/4, 7/4
    weights = np.array([-9, 67, 225, -27]) / 256
    assert_allclose(build_resize_matrix(8, 16)[8, 2:6], weights)
    assert_allclose(build_resize_matrix(8, 16)[9, 3:7], weights[::-1])


def test_grids_are_resized_along_both_axes():
    table = planted.make_grid(3, 4, 5)
    resized = resize_table(table, (6, 7), grid=(3, 4))
    first, second = build_resize_matrix(3, 6), build_resize_matrix(4, 7)
    expected = np.einsum("ai,bj,ijc->abc", first, second, table.reshape(3, 4, 5)).reshape(42, 5)
    assert_allclose(resized, expected, atol=1e-14)
    assert not resized.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((np.ones((4, 2)), 0), {}),
        ((np.ones((4, 2)), 8), {"method": "spline"}),
        ((np.ones((4, 2)), (4, 4)), {}),
        ((np.ones((4, 2)), 4), {"grid": (2, 2)}),
        ((np.ones((4, 2)), (4, 4)), {"grid": (2, 3)}),
        ((np.ones(4), 8), {}),
        ((np.ones((4, 64)), 1 << 20), {}),
    ],
)
def test_sizes_that_do_not_fit_are_refused(arguments, options):
    if arguments[1] == 1 << 20:
        arguments = (np.ones((4, 128)), 1 << 20)
    with pytest.raises(InputError):
        resize_table(*arguments, **options)


# ----------------------------------------------------------------------------------- resizing


def test_resizing_takes_the_positions_that_were_asked_for():
    table = np.random.default_rng(1).standard_normal((100, 4))
    resized = resize_encoding(Learned(values=table), (25,), method="nearest", length=50)
    assert_array_equal(resized.encoding.table(25), table[0:50:2])
    assert resized.old == (50,)


@pytest.mark.parametrize(("aligned", "scale"), [(False, 40 / 60), (True, 39 / 59)])
def test_a_frequency_becomes_slower_by_the_scale(aligned, scale):
    positions = np.arange(40)
    table = np.stack([np.cos(0.3 * positions), np.sin(0.3 * positions)], axis=1)
    resized = resize_encoding(Learned(values=table), (60,), align_corners=aligned)
    assert resized.scales == (scale,)
    turned = np.unwrap(np.arctan2(*resized.encoding.table(60)[10:50, ::-1].T))
    assert_allclose(np.polyfit(np.arange(40), turned, 1)[0], 0.3 * scale, rtol=1e-3)


def test_a_size_of_the_wrong_kind_is_refused():
    with pytest.raises(InputError, match="--resize"):
        resize_encoding(read_encoding("sinusoidal:d=16"), (24, 24))
    assert resize_encoding(read_encoding("sincos2d:d=16"), (24,)).new == (24, 24)
    with pytest.raises(InputError, match="no table"):
        resize_encoding(read_encoding("alibi"), (24,))


# ----------------------------------------------------------------------------------- figures


def test_a_table_made_smaller_gets_no_line_at_its_old_frequencies():
    """The line says where the old table has nothing more: a smaller one has no such frequencies."""
    encoding = give_table(np.random.default_rng(0).normal(size=(24, 4)).cumsum(axis=0))
    figure = compose_portrait(draw_portrait(encoding, resized=resize_encoding(encoding, (16,))))
    (panel,) = [axes for axes in figure.axes if "Resized 24 to 16" in axes.get_title(loc="left")]
    assert not [line for line in panel.lines if len(set(line.get_xdata())) == 1]
