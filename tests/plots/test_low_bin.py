"""The figure of the lowest bin: strokes, counts and words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.plots.strips import _split_frequencies, draw_low_bin
from pe_spectra.spectrum import count_low_bin
from tests.plots.figures import FIGURES, curves_of, empty_axes


def test_strokes_are_the_frequencies_split_by_the_exact_count() -> None:
    count, axes = count_low_bin(Sinusoidal(d=256)), empty_axes()
    draw_low_bin(axes, count)
    (inside, _), (outside, _), (edge, _) = curves_of(axes)
    assert (inside.size, outside.size) == (76, 52)
    values = np.sort(count.encoding.frequencies().values)
    np.testing.assert_allclose(10 ** np.concatenate([inside, outside]), values, rtol=1e-14)
    assert inside.max() < edge[0] < outside.min()
    assert edge[0] == pytest.approx(math.log10(2 * math.pi / 256))


def test_low_bin_is_counted_in_words() -> None:
    figure = FIGURES["low bin"]()
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "76 of 128 inside (59.4 %), 52 outside; edge 2π/256" in words
    assert "133 of 256 inside (52.0 %), 123 outside; edge 2π/512" in words
    assert "edge 2π/4096" in FIGURES["low bin, trained length"]().axes[0].texts[0].get_text()


def test_frequency_zero_is_left_out_and_said() -> None:
    inside, outside = _split_frequencies(count_low_bin(Dft(d=64)))
    assert (inside.size, outside.size) == (0, 32)
    small_print = " ".join(text.get_text() for text in FIGURES["low bin, lattice"]().texts)
    assert "frequency of 0 is outside" in small_print
