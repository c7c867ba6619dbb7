"""What becomes of each column of a comparison when vectors are scaled, rotated, permuted, widened or doubled.

The law is written once, as `LAW`: each operation multiplies all distances and norms with one factor, so a metric is
multiplied with a power of it, the degree that is declared beside it; no other column of numbers may move.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_spectra import Sinusoidal, compare_encodings
from pe_spectra.encodings import ENCODINGS, Encoding, HasTable, find_encoding
from pe_spectra.encodings.protocol import Frequencies
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.compare import list_columns
from tests.making import draw_table, give_table

PERIODS = [("6h", 21600.0), ("day", 86400.0)]
COLUMNS = list_columns([name for name, _ in PERIODS])


def rotate(rows, rng):
    """An orthogonal mix of the columns, in which equal rows stay equal."""
    mix = np.linalg.qr(rng.normal(size=(rows.shape[1],) * 2))[0]
    kept, numbers = np.unique(rows, axis=0, return_inverse=True)
    return (kept @ mix)[numbers.reshape(-1)]


#: Operation -> what it makes of a table, and by what it multiplies every distance and norm.
OPERATIONS = {
    "scaled by 3": (lambda rows, _: 3 * rows, 3.0),
    "scaled by 1e-6": (lambda rows, _: 1e-6 * rows, 1e-6),
    "rotated": (rotate, 1.0),
    "columns permuted": (lambda rows, rng: rows[:, rng.permutation(rows.shape[1])], 1.0),
    "columns of zeros added": (lambda rows, _: np.hstack([0 * rows[:, :2], rows, 0 * rows]), 1.0),
    "each column twice": (lambda rows, _: np.repeat(rows, 2, axis=1), math.sqrt(2)),
}
WIDENED = {"columns of zeros added", "each column twice"}
#: Column -> the operations that change it, and no others do; a label has the width of a table in it.
LAW = {
    column: {
        name
        for name, (_, factor) in OPERATIONS.items()
        if (name in WIDENED if column == "encoding" else column in METRICS and factor ** METRICS[column].degree != 1)
    }
    for column in COLUMNS
}
#: Of least squares over columns that nearly depend on each other fewer digits are left, and none below such an error.
LOOSE = {"probe": (1e-5, 1e-5), "extrapolation_rmse": (1e-4, 1e-5), "shift_linearity": (1e-6, 1e-7)}


def read_row(encoding, length=None):
    """The columns of one encoding, and why each that is missing is."""
    (one,) = compare_encodings([encoding], length=length, step_seconds=3600.0, periods=PERIODS)
    return {name: cells[0] for name, cells in one.to_columns().items()}, one.notes


def bound_slopes(row):
    """How far rounding moves a slope, relative to the smallest: codes are differences of numbers as large as norms."""
    known = row["norm_rms"] is not None and row["cramer_rao_bound_worst"] is not None
    return 2.0**-48 * row["norm_rms"] * row["cramer_rao_bound_worst"] if known else 0.0


def find_broken(before, after, name, factor):
    """The columns that do not follow the law, each with both values."""
    broken = {}
    for column, old in before.items():
        new, moves = after[column], name in LAW[column]
        if isinstance(old, float) and isinstance(new, float):
            relative, absolute = next((bound for key, bound in LOOSE.items() if column.startswith(key)), (1e-9, 1e-12))
            if column.startswith(("cramer_rao", "fisher")):
                relative += bound_slopes(before)
            power = factor ** METRICS[column].degree if column in METRICS else 1.0
            holds = math.isclose(new, power * old, rel_tol=relative, abs_tol=absolute * power)
            holds = holds and (not moves or old == 0 or new != old)
        else:
            holds = (old != new) == (moves and old is not None)
        if not holds:
            broken[column] = (old, new)
    return broken


def test_the_law_is_about_every_column():
    assert set(LAW) == set(COLUMNS)
    assert {column for column, operations in LAW.items() if operations} == {
        "encoding",
        "min_separation",
        "norm_rms",
        "fisher_information_mean",
        "fisher_information_min",
        "cramer_rao_bound_mean",
        "cramer_rao_bound_worst",
        "extrapolation_separation",
    }


def check(rows, name, length=None, **keys):
    change, factor = OPERATIONS[name]
    changed = change(rows, np.random.default_rng(5))
    before, reasons = read_row(give_table(rows, **keys), length)
    after, others = read_row(give_table(changed, **keys), length)
    assert find_broken(before, after, name, factor) == {}
    assert others == reasons


# ----------------------------------------------------------------------------------- the catalogue


def read_catalogue():
    """Tables of 40 positions, and as many again, of everything that has them; grids whole."""
    found = {}
    for cls in ENCODINGS:
        encoding = cls(init="normal") if cls.name == "learned" else cls()
        if isinstance(encoding, HasTable):
            grid = {} if encoding.shape is None else {"grid": "x".join(map(str, encoding.shape))}
            size = math.prod(encoding.shape) if encoding.shape is not None else min(encoding.rows or 80, 80)
            found[cls.name] = (encoding.table(size), grid)
    return found


CATALOGUE = read_catalogue()


@pytest.mark.few(16)
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("encoding", CATALOGUE)
def test_tables_of_the_catalogue_follow_the_law(encoding, name):
    rows, grid = CATALOGUE[encoding]
    check(rows, name, None if grid else 40, **grid)


# ----------------------------------------------------------------------------------- drawn tables


@st.composite
def draw_rows(draw):
    """A walk, noise, few directions beside a large mean, rows that repeat, a constant: of 1 to 40 rows."""
    length, width = draw(st.integers(1, 40)), draw(st.integers(1, 6))
    rows = draw_table(length, width, seed=draw(st.integers(0, 1000)))
    kind = draw(st.sampled_from(["noise", "walk", "mean", "repeated", "constant", "zero", "one direction"]))
    if kind == "walk":
        return rows.cumsum(axis=0)
    if kind == "mean":
        return rows + 100
    if kind == "repeated":
        return rows[np.arange(length) % max(1, length - 2)]
    if kind == "one direction":
        return rows[:, :1] * np.arange(1.0, width + 1)
    return {"noise": 1, "constant": 0, "zero": 0}[kind] * rows + (kind == "constant") * np.arange(1.0, width + 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=25, deadline=None)
@given(rows=draw_rows())
def test_drawn_tables_follow_the_law(name, rows):
    check(rows, name, max(1, len(rows) // 2))


# ----------------------------------------------------------------------------------- ladders


@dataclass(frozen=True, kw_only=True)
class Twice(Encoding):
    """A ladder with each of its frequencies twice."""

    name = "twice"
    family = "combined"
    summary = formula = source = pitfalls = "for tests"

    ladder: Encoding

    @property
    def d(self):
        return 2 * self.ladder.d

    @property
    def theorem(self):
        return self.ladder.theorem

    def exact_key(self, positions):
        return self.ladder.exact_key(positions)

    def frequencies(self):
        found = self.ladder.frequencies()
        parts = {name: np.repeat(getattr(found, name), 2) for name in ("values", "low", "masses", "phases")}
        return Frequencies(**parts, amplitude=found.amplitude)

    def turns(self, index):
        return self.ladder.turns(index // 2)

    def table(self, positions):
        return np.repeat(self.ladder.table(positions), 2, axis=1)


@pytest.mark.parametrize("spec", [{"d": 16}, {"d": 32, "rho": 100.0}, {"d": 6, "scale": 3.0}])
def test_a_ladder_twice_as_wide_follows_the_law(spec):
    ladder = Sinusoidal(**spec)
    before, reasons = read_row(ladder, 48)
    after, others = read_row(Twice(ladder=ladder), 48)
    assert find_broken(before, after, "each column twice", math.sqrt(2)) == {}
    assert others == reasons


@pytest.mark.parametrize("d", [6, 16, 21])
def test_a_scaled_ladder_follows_the_law(d):
    before, after = (read_row(find_encoding("sinusoidal")(d=d, scale=scale), 48)[0] for scale in (1.0, 3.0))
    assert {"encoding"} == set(find_broken(before, after, "scaled by 3", 3.0))  # the scale stands in its label


#: What no width of a ladder of whole pairs changes: it stays a function of the lag, and each pair has one length.
OF_EVERY_LADDER = {"random", "length", "injective", "toeplitz_share", "translation_invariance"}
#: Lags and periods, of which a finer ladder may have the same, and what is as good as it can be.
STEPPED = {"sidelobe_lag", "shift_linearity_mean", "shift_linearity_worst", "probe_r2"} | {
    column for column in COLUMNS if column.startswith(("maximum_", "nearest_"))
}


@pytest.mark.parametrize("spec", [{"d": 6}, {"d": 16}, {"d": 32, "rho": 100.0}, {"d": 16, "scale": 3.0}])
def test_a_ladder_with_steps_half_as_wide_changes_all_that_depends_on_its_frequencies(spec):
    before, reasons = read_row(Sinusoidal(**spec), 48)
    after, others = read_row(Sinusoidal(**spec | {"d": 2 * spec["d"]}), 48)
    assert others == reasons
    assert after["norm_rms"] == pytest.approx(math.sqrt(2) * before["norm_rms"], rel=1e-12)
    for column in set(COLUMNS) - STEPPED - {"norm_rms"}:
        old, new = before[column], after[column]
        same = old == new or (isinstance(old, float) and math.isclose(old, new, rel_tol=1e-9))
        assert same == (column in OF_EVERY_LADDER or old is None), column
