"""A curve in characters: what a column shows of the values in it, and what lies below zero."""

import math

import numpy as np
import pytest

from pe_spectra.answers.answer import Drawing
from pe_spectra.cli.curve import draw_curve
from pe_spectra.cli.terminal import to_ascii

LEGEND = "   (░ range)"


def draw(values, width=18, ticks=(), smallest=False):
    """Draw over eight columns unless told otherwise, one value each where there are eight."""
    return draw_curve(Drawing(title="curve", values=values, ticks=ticks, smallest=smallest), width)


def test_a_curve_above_zero_stands_on_its_axis():
    assert draw([1.0, 0.75, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.0], ticks=((0.0, "a"), (1.0, "end"))) == [
        "curve",
        "       1 ┤█",
        "         │██",
        "         │███",
        "         │████▄▂▁",
        "       0 ┼┬──────┬",
        "         a    end",
    ]


def test_what_lies_below_zero_hangs_from_the_axis_in_the_same_scale():
    assert draw([1.0, 0.5, 0.0, -0.03125, -0.125, -0.25, -0.375, -0.5]) == [
        "curve",
        "       1 ┤█",
        "         │█",
        "         │██",
        "         │██",
        "       0 ┼────────",
        "         │   ▔▀███",
        "    -0.5 ┤      ▀█",
        "",
    ]


def test_the_side_that_reaches_further_has_four_lines():
    below = draw([-2.0, 0.5] * 4)
    assert below[1] == "     0.5 ┤ █ █ █ █"
    assert below[2] == "       0 ┼────────"
    assert below[3:7] == [*["         │█ █ █ █"] * 3, "      -2 ┤█ █ █ █"]
    assert draw([-1.0] * 8)[1] == "       0 ┼────────"


def test_a_column_shows_how_far_all_of_its_values_reach_and_how_far_one_does():
    shown = draw([1.0, 0.5] * 16)
    assert shown[0] == "curve" + LEGEND
    assert shown[1:5] == ["       1 ┤░░░░░░░░", "         │░░░░░░░░", "         │████████", "         │████████"]


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_fast_oscillation_is_a_band_on_both_sides_of_zero(period):
    shown = draw(np.cos(2 * np.pi * np.arange(8 * 12) / period).tolist())
    assert [line[10:] for line in shown if line[9:10] in ("┤", "│")] == ["░" * 8] * (6 if period == 3 else 8)
    assert shown[5].startswith("       0 ┼")


def test_the_smallest_alone_is_drawn_where_it_alone_counts():
    shown = draw([1.0, 0.5] * 16, smallest=True)
    assert shown[:2] == ["curve", "     0.5 ┤████████"]


def test_rounding_below_zero_takes_no_line():
    assert draw([1.0, -1e-12] * 4) == draw([1.0, 0.0] * 4)
    assert draw([-1.0, 1e-12] * 4) == draw([-1.0, 0.0] * 4)


@pytest.mark.parametrize("value", [0.0, 1e-300, 5e-324, 1e300])
def test_any_size_can_be_drawn(value):
    assert len(draw([value] * 8)) >= 3
    assert len(draw([-value] * 8)) >= 3


def test_every_cell_has_a_plain_form():
    values = [math.sin(0.7 * i) * (1 + i % 3) for i in range(80)]
    plain = to_ascii("\n".join(draw(values, 40)))
    assert "\\u" not in plain
    assert {"|", "-", "+"} <= set(plain)
