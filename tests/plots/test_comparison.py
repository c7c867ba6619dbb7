"""Galleries: cells, numbers, kernels that leave their panel."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra.encodings import Dft, Sinusoidal, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.metrics.compare import compare_encodings, sort_comparisons
from pe_spectra.plots.comparison import _find_beyond, compose_comparison
from pe_spectra.plots.sheet import render
from tests.making import give_table
from tests.plots.figures import compared, first_curve, read_words

# ----------------------------------------------------------------------------------- galleries


def test_cells_hold_kernel_and_density() -> None:
    results = compared("sinusoidal", "dft")
    axes = compose_comparison(results).axes
    assert len(axes) == 4
    for number, one in enumerate(results):
        lags, kernel = first_curve(axes[2 * number], 1)
        np.testing.assert_array_equal(lags, np.arange(128))
        np.testing.assert_array_equal(kernel, one.kernel)
        omega, logarithm = first_curve(axes[2 * number + 1])
        np.testing.assert_array_equal(omega, one.spectrum.omega)
        density = one.spectrum.weights * 128 / (2 * math.pi)
        np.testing.assert_allclose(10**logarithm, density, rtol=1e-12)
    assert len({one.get_ylim() for one in axes[::2]}) == len({one.get_ylim() for one in axes[1::2]}) == 1


def test_encodings_drawn_at_random_stand_apart() -> None:
    results = sort_comparisons(compared("t5", "alibi", "kerple"), "kernel_half_width")
    notes = [text.get_text() for axes in compose_comparison(results[::-1]).axes for text in axes.texts]
    assert notes.index("alibi heads=8") < notes.index("t5 buckets=32 heads=8")
    assert "Values drawn at random, one seed each (2)" in notes
    assert "Values from a formula or from training (1)" in notes
    alone = [text.get_text() for axes in compose_comparison(compared("alibi")).axes for text in axes.texts]
    assert not any("Values" in note for note in alone)


def test_numbers_of_a_cell() -> None:
    results = compared("sinusoidal", "tape")
    figure = compose_comparison(results, "stable_rank")
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert f"stable rank {results[0].values['stable_rank']:.3g}" in notes
    assert "half width 52.6, relative separation 0.253" in notes
    assert any(note.startswith("half width > 127, ") for note in notes)  # never falls to a half
    assert "has the smallest stable_rank" in read_words(figure)


def test_cells_without_kernel_or_spectrum_say_so() -> None:
    one = replace(compared("alibi")[0], kernel=None, spectrum=None)
    notes = [text.get_text() for axes in compose_comparison([one]).axes for text in axes.texts]
    assert {"no kernel", "no spectrum"} <= set(notes)


@pytest.mark.slow
def test_gallery_has_the_same_bytes_twice() -> None:
    results = compared("alibi", "t5")
    first, second = (render(compose_comparison(results, "centroid"), ".png") for _ in range(2))
    assert first == second


# ----------------------------------------------------------------------------------- comparisons


@pytest.mark.slow
def test_lags_are_in_the_steps_that_were_asked_for() -> None:
    encodings = [find_encoding("calendar")(), Sinusoidal(d=64)]
    periods = [("day", 86400.0), ("week", 604800.0)]
    figure = compose_comparison(compare_encodings(encodings, step_seconds=3600.0, periods=periods))
    assert figure.axes[0].get_xlabel() == "lag (steps of 1 h)"
    assert [24.0, 24.0] in [list(line.get_xdata()) for line in figure.axes[0].lines]
    assert "dotted: day." in read_words(figure)
    for seconds, name in ((300.0, "5 min"), (86400.0, "1 d"), (0.5, "0.5 s"), (5400.0, "90 min")):
        (one,) = compare_encodings([Dft(d=8)], length=8, step_seconds=seconds, periods=[("p", 3 * seconds)])
        assert compose_comparison([one]).axes[0].get_xlabel() == f"lag (steps of {name})"
    plain = compose_comparison(compare_encodings(encodings))
    assert plain.axes[0].get_xlabel() == "lag (positions)"
    assert "dotted" not in read_words(plain)


@pytest.mark.slow
def test_the_kernel_is_spelled_in_one_way() -> None:
    text = read_words(compose_comparison(compare_encodings([Dft(d=8)])))
    assert text.count("k(τ)") == 2
    assert "tau" not in text


# ----------------------------------------------------------------------------------- galleries


def make_wild() -> Learned:
    """Its kernel is far above 1 at one lag and far below -1 at the next."""
    table = np.ones((128, 2))
    table[0], table[126], table[127] = 20.0, 20.0, -20.0
    return give_table(table, "wild.npy")


def test_a_kernel_that_leaves_its_panel_is_marked_and_named() -> None:
    compared = list(compare_encodings([make_wild(), Dft(d=64)], length=128))
    table = np.ones(128)
    table[[0, 126, 127]] = 20.0, 20.0, -20.0
    peak = math.fsum(table**2) / 128
    down, up = (-400 / peak, math.fsum(table[:2] * table[126:]) / 2 / peak)
    at = {lag: math.fsum(table[: 128 - lag] * table[lag:]) / (128 - lag) / peak for lag in range(128)}
    lowest, highest = min(at, key=at.__getitem__), max(at, key=at.__getitem__)
    assert at[127] == pytest.approx(down)
    assert at[126] == pytest.approx(up)
    assert _find_beyond(compared[0]) == [(-1.05, lowest), (1.5, highest)]
    figure = compose_comparison(compared)
    marks = [(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    assert marks == [(lowest, -1.05), (highest, 1.5)]
    assert not [line for line in figure.axes[2].lines if len(line.get_xdata()) == 1]
    written = f"wild.npy 128 x 2 to −{-at[lowest]:.3g}, wild.npy 128 x 2 to {at[highest]:.3g}"
    assert f"triangles: kernels that leave their panel, {written}." in read_words(figure)


def test_many_kernels_that_leave_their_panels_are_counted() -> None:
    (one,) = compare_encodings([make_wild()], length=128)
    assert ", and 2 more." in read_words(compose_comparison([one] * 3))
