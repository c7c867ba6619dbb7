"""Every sentence of a comparison against the numbers of its rows, over drawn comparisons."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_spectra import compare_encodings, read_encoding
from pe_spectra.answers.comparisons import answer_comparison
from pe_spectra.encodings import GivenArray
from pe_spectra.encodings.codes import count_positions, explain_absence
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.metrics.compare import find_better, list_columns, sort_comparisons
from tests.making import draw_table, give_table

POOL = [
    *map(
        read_encoding, ["sinusoidal:d=8", "dft:d=12", "ramp:length=30", "one-hot:d=20", "alibi:heads=2", "fire:heads=2"]
    ),
    *map(read_encoding, ["sincos2d:d=8,height=4,width=5", "learned:init=normal,d=4,length=24", "calendar:fields=hour"]),
    give_table(draw_table(24, 3), "noise.npy"),
    give_table(7 * draw_table(18, 3).cumsum(axis=0), "walk.npy"),
    give_table(np.ones((16, 2)), "constant.npy"),
    give_table(np.zeros((16, 2)), "zero.npy"),
    give_table(1 + 2.0**-52 * np.arange(6.0)[:, np.newaxis], "near.npy"),
    give_table(np.ones((1, 2)), "one.npy"),
]
PERIODS = [("6h", 21600.0)]
COLUMNS = list_columns(["6h"])


@st.composite
def draw_comparison(draw):
    """Encodings that can be had at one length, that length if it was asked for, and a column."""
    length = draw(st.sampled_from([None, None, 1, 2, 5, 16, 20, 40]))
    known = [one for one in POOL if not explain_absence(one, length or 1)]
    encodings = draw(st.lists(st.sampled_from(known), min_size=1, max_size=4, unique=True))
    column = draw(st.sampled_from([None, *COLUMNS]))
    compared = compare_encodings(encodings, length=length, step_seconds=3600.0, periods=PERIODS)
    return length, column, compared if column is None else sort_comparisons(compared, column)


@settings(max_examples=40, deadline=None)
@given(drawn=draw_comparison())
def test_every_sentence_is_true_of_the_rows(drawn):
    length, column, rows = drawn
    answer = answer_comparison(rows, column)
    shared = length or min([most for one in rows if (most := count_positions(one.encoding)) is not None] or [128])
    check_lattice(answer, rows, shared)
    check_notes(answer, rows, shared, is_asked=length is not None)
    check_verdict(answer.verdict, rows, column)


def check_lattice(answer, rows, shared):
    spectra = [one.spectrum for one in rows if one.spectrum is not None]
    said = dict(answer.facts).get("lattice", "")
    assert bool(said) == bool(spectra)
    if said:
        points, bins, width, boundary = re.fullmatch(
            r"(\d+) points, bandwidth (\S+) bins = (\S+) rad/position, boundary (\w+)", said
        ).groups()
        assert int(points) == max(2, shared)
        for one in spectra:
            assert (one.grid, one.boundary) == (int(points), boundary)
            assert one.bandwidth == pytest.approx(float(bins), rel=1e-3)
            assert one.bandwidth * 2 * math.pi / one.grid == pytest.approx(float(width), rel=1e-2)


def find_named(answer, words):
    """The labels that a note with these words is about."""
    notes = [note.partition(": ") for note in answer.notes]
    return {
        label for names, _, text in notes if re.search(words, text) for label in re.split(", (?=[a-z])| and ", names)
    }


def check_notes(answer, rows, shared, *, is_asked):
    def label(holds):
        return {one.encoding.label for one in rows if holds(one)}

    ends = [(one, count_positions(one.encoding) or 0) for one in rows]
    larger = {one.encoding.label for one, most in ends if most > shared}
    grids = label(lambda one: one.encoding.shape is not None)
    has_spectrum = any(one.spectrum is not None for one in rows)
    assert all(one.length == (shared if one.encoding.shape is None else most) for one, most in ends)
    if has_spectrum:
        whole = {one.encoding.label for one, most in ends if one.encoding.shape is not None and most > shared}
        assert find_named(answer, f"compared whole, .* in place of {shared}$") == whole
    assert find_named(answer, "^only the first") == (set() if is_asked else larger - grids)
    assert find_named(answer, "^its closest vectors") == label(lambda one: one.outcome == "distinct-by-rounding")
    assert find_named(answer, "nothing at --periods") == label(lambda one: not one.periods)
    unknown = label(lambda one: any(match.ratio is None for match in one.periods))
    assert find_named(answer, r"k\(lag 6\) not measurable") == unknown


def check_decided(text, total, undecided, merges):
    """Nothing is said of encodings for which nothing is decided but that."""
    assert ("ot decided" in text) == bool(undecided)
    assert ("o collisions found" in text) == (undecided < total and not merges)
    says = re.search(r"o collisions found in (\d+) of (\d+)", text)
    assert (says is not None) == (0 < undecided < total and not merges)
    assert says is None or (int(says[1]), int(says[2])) == (total - undecided, total)


def check_verdict(verdict, rows, column):
    merged = [one.encoding.label for one in rows if one.injective is False]
    says = re.search(r"ollisions \(positions or lags with one vector\) in (\d+) of (\d+)", verdict.text)
    assert (says is not None) == bool(merged)
    assert says is None or (int(says[1]), int(says[2])) == (len(merged), len(rows))
    is_near = any(one.outcome == "distinct-by-rounding" for one in rows)
    assert ("no more than float64 rounds off" in verdict.text) == is_near
    undecided = [one.encoding.label for one in rows if one.injective is None]
    assert verdict.level == ("note" if merged or is_near or undecided else "ok")
    check_decided(verdict.text, len(rows), len(undecided), bool(merged))
    assert ("in the parts compared" in verdict.text) <= any(one.part for one in rows)
    chosen = column or "relative_separation"
    values = {one.encoding.label: one.to_columns()[chosen][0] for one in rows if not one.encoding.is_random}
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float) and value is not True}
    numbers = {name: value for name, value in numbers.items() if value is not False}
    ranked = chosen in verdict.text
    assert ranked == (len(numbers) > 1)
    if ranked and " is the same (" not in verdict.text:
        top = max(numbers.values()) if column is None or find_better(column) == "higher" else min(numbers.values())
        named = [name for name in numbers if verdict.text.startswith(name)]
        assert any(numbers[name] == pytest.approx(top, rel=1e-8, abs=0) for name in named)


@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_positions_that_repeat_are_in_the_kernel_and_once_in_the_spectrum(repeats):
    times = np.sort(np.r_[0.7 * np.arange(20.0), 0.7 * np.arange(repeats)])
    sampled = Sampled(encoding=read_encoding("sinusoidal:d=8"), times=GivenArray(times))
    (row,) = compare_encodings([sampled])
    (said,) = [note for note in answer_comparison([row], None).notes if "kernel" in note and "mean" in note]
    assert (row.length, row.spectrum.length) == (20 + repeats, 20)
    where = f"positions 0 .. {19 + repeats} ({20 + repeats} positions)"
    assert said == f"{sampled.label}: " + (
        f"the kernel is a mean over {where}, the spectrum of 20 different ones"
        if repeats
        else f"kernel and spectrum are means over {where}"
    )
    which = f"the 20 different ones of {20 + repeats}" if repeats else "20"
    assert any(f"smoothed periodogram at {which} real positions" in note for note in row.spectrum.notes)
