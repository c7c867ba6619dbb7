"""An encoding as its implementations compute it: positions times frequencies, sines and cosines, a factor."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from pe_spectra.draws import draw_normal
from pe_spectra.encodings import Encoding, HasFrequencies, HasTable
from pe_spectra.exact import F64, I64, sum_cosines, two_product
from pe_spectra.precision.dtypes import Carried, NumberType, Steps, multiply, round_to
from pe_spectra.precision.rounded_sines import FURTHEST, RoundedSines
from pe_spectra.records import NamedTuple, dataclass

#: Positions at which columns that were put together are held against the encoding's own table.
_PROBES = (0, 1, 2, 3, 7, 100, 1001)
_SAME = 1e-11
#: Two doubles hold a product to 2**-105 of it: what is left below this share is their rounding, not an error.
_SETTLED = 2.0**-100
_EPS = 2.0**-52


@dataclass(frozen=True, kw_only=True, eq=False)
class Waves:
    """Columns a sin w (s + o) and a cos w (s + o).

    Attributes
    ----------
    high, low : (M,) the frequencies w in rad/position, right to 31 digits.
    sines, cosines : the numbers of the frequencies that have such a column; all, but for lone columns.
    factors : (columns,) a of each column, sines first.
    offset : o, what is added to a position.
    """

    high: F64
    low: F64
    sines: I64
    cosines: I64
    factors: F64
    offset: int

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.factors)

    def count_columns(self, frequencies: I64) -> int:
        """Return how many columns frequencies, given by their numbers, have together."""
        return int(np.isin(self.sines, frequencies).sum() + np.isin(self.cosines, frequencies).sum())

    def bound_distances(self, lags: int) -> F64:
        """Return a lower bound of the exact distance of two codes at lag 1 .. lags, shape (lags,).

        Lone columns are left out, and the rounding of the sums of cosines is allowed for.

        >>> from pe_spectra import Sinusoidal
        >>> find_waves(Sinusoidal(d=2)).bound_distances(3).round(6)  # 2 sin 1/2, 2 sin 1, 2 sin 3/2
        array([0.958851, 1.682942, 1.99499 ])
        """
        both = self.sines[np.isin(self.sines, self.cosines)]
        if not len(both):
            return np.zeros(lags)
        words = np.stack([self.high[both], self.low[both], np.zeros(len(both))])
        found = sum_cosines(words, np.ones(len(both)), np.arange(1, lags + 1))
        np.subtract(len(both), found, out=found)  # in place, as they are many
        found *= 2
        found -= 64 * _EPS * len(both) * (4 + np.log2(len(both) + 1))
        np.maximum(found, 0.0, out=found)
        np.sqrt(found, out=found)
        found *= float(self.factors[0])
        return found


def find_waves(encoding: Encoding) -> Waves | None:
    """Read an encoding as sines and cosines of its frequencies; None for what is no such list.

    What is put together is held against the encoding's own table, whatever the order of columns; columns of
    the table that never change, as of channels that a rotary encoding does not turn, may be missing.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> find_waves(Sinusoidal(d=4)).high.tolist(), find_waves(read_encoding("ramp"))
    ([1.0, 0.01], None)
    """
    if not (isinstance(encoding, HasFrequencies) and isinstance(encoding, HasTable)):
        return None
    found = encoding.frequencies()
    offset = getattr(encoding, "offset", 0)
    pairs, lone = np.flatnonzero(found.masses == 1), np.flatnonzero(found.masses != 1)
    # a lone column is a sine, or a cosine at one of the ends of the lattice, where sines are 0
    is_end = (found.values[lone] == 0) | (found.values[lone] == math.pi)
    sines, cosines = np.concatenate([pairs, lone[~is_end]]), np.concatenate([pairs, lone[is_end]])
    factors = np.full(len(sines) + len(cosines), found.amplitude)
    factors[len(sines) + len(pairs) :] *= math.sqrt(0.5)
    waves = Waves(
        high=found.values,
        low=found.low,
        sines=sines,
        cosines=cosines,
        factors=factors,
        offset=offset if isinstance(offset, int) else 0,
    )
    return waves if _is_table(waves, encoding) else None


def _is_table(waves: Waves, encoding: Encoding) -> bool:
    if not isinstance(encoding, HasTable):
        return False
    rows = encoding.rows
    probes = np.array([p for p in _PROBES if rows is None or p < rows])
    table = encoding.table(probes)
    angles = np.multiply.outer(probes + waves.offset, waves.high)
    built = np.concatenate([np.sin(angles[:, waves.sines]), np.cos(angles[:, waves.cosines])], axis=1) * waves.factors
    if table.shape[1] > built.shape[1]:
        still = (table == table[0]).all(axis=0)
        table = table[:, ~still]
        built = built[:, (np.abs(built - built[0]) > 0).any(axis=0)]
    if table.shape != built.shape:
        return False
    allowed = _SAME * float(np.abs(waves.factors).max()) * (1 + float(np.abs(angles).max()) * 1e-4)
    return bool((np.abs(np.sort(table, axis=1) - np.sort(built, axis=1)) <= allowed).all())


class Cast(NamedTuple):
    """Positions after their cast, each once, in order of appearance.

    Attributes
    ----------
    positions : (n,) as cast; groups : (S,) the number, among these, of each position that was given.
    first, last : (n,) the exact positions, offset included, that a cast position stands for: from .. to.
    """

    positions: Carried
    groups: I64
    first: F64
    last: F64

    @property
    def are_apart(self) -> bool:
        """Whether each stands for one position alone: `first` and `last` are then one array."""
        return self.first is self.last


def cast_positions(places: I64 | F64, kind: NumberType, offset: int = 0) -> Cast:
    """Cast positions, and group those that become equal.

    >>> from pe_spectra.precision.dtypes import DTYPES
    >>> found = cast_positions(np.array([255, 256, 257]), DTYPES["bfloat16"])
    >>> found.positions.tolist(), found.groups.tolist()
    ([255.0, 256.0], [0, 1, 1])
    """
    exact: F64 = np.asarray(places + offset if offset else places, dtype=np.float64)
    cast = round_to(exact, kind)
    if (cast[1:] > cast[:-1]).all():  # each stays by itself, and in its order
        return Cast(cast, np.arange(len(cast)), exact, exact)
    _, leaders, inverse = np.unique(cast, return_index=True, return_inverse=True)
    order = np.argsort(leaders, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    groups = rank[inverse.ravel()]
    low, high = np.full(len(order), math.inf), np.full(len(order), -math.inf)
    np.minimum.at(low, groups, exact)
    np.maximum.at(high, groups, exact)
    return Cast(cast[leaders[order]], groups, low, high)


@dataclass(frozen=True, kw_only=True, eq=False)
class Front:
    """The steps up to sines and cosines, in their types; rows belong to the positions given.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision.dtypes import RECIPES
    >>> steps = RECIPES["bf16-positions"].resolve("bfloat16")
    >>> cast = cast_positions(np.array([256, 257, 258]), steps.positions)
    >>> Front(waves=find_waves(Sinusoidal(d=2)), steps=steps, cast=cast).compute_phases(np.arange(2)).tolist()
    [[256.0], [258.0]]
    """

    waves: Waves
    steps: Steps
    cast: Cast

    @cached_property
    def frequencies(self) -> Carried:
        """Frequencies as cast, (M,)."""
        return round_to(self.waves.high, self.steps.frequencies)

    def compute_phases(self, rows: I64) -> Carried:
        """Products of position and frequency, rounded; (n, M)."""
        return multiply(self.cast.positions[rows][:, None], self.frequencies, self.steps.phases)

    def compute_sines(self, phases: Carried) -> Carried:
        """Sines, then cosines, of rounded phases, themselves rounded; (n, columns)."""
        waves, kind = self.waves, self.steps.sines
        angles, count = phases.astype(np.float64, copy=False), len(waves.sines)
        # of types whose carrier rounds as they do, the numbers are carried at once
        found = np.empty((len(angles), waves.columns), dtype=np.float32 if kind.digits == 24 else np.float64)
        are_pairs = waves.columns == 2 * count == 2 * angles.shape[1]
        if are_pairs and found.dtype == np.float32 and self._rounded_sines is not None:
            self._rounded_sines.compute(angles, found[:, :count], found[:, count:])
            return round_to(found, kind)
        with np.errstate(invalid="ignore"):
            for wave, which, out in (
                (np.sin, waves.sines, found[:, :count]),
                (np.cos, waves.cosines, found[:, count:]),
            ):
                out[:] = wave(angles if are_pairs else angles[:, which])
        return round_to(found, kind)

    @cached_property
    def _rounded_sines(self) -> RoundedSines | None:
        """What computes those of float32; None where phases are of more digits, too large, or not finite."""
        if self.steps.phases.is_double:
            return None
        most = float(np.abs(self.cast.positions).max()) * float(np.abs(self.frequencies).max())
        with np.errstate(over="ignore", invalid="ignore"):
            furthest = float(round_to(np.array([most]), self.steps.phases)[0])  # infinite where its type ends before
        return RoundedSines(len(self.frequencies)) if furthest < FURTHEST else None

    def round_codes(self, sines: Carried, code: NumberType) -> Carried:
        """Rounded sines and cosines times their factors, cast: what is added to a token."""
        if (self.waves.factors != 1).any():
            kind = self.steps.sines
            sines = multiply(sines, round_to(self.waves.factors, kind), kind)
        return round_to(sines, code)

    def measure_errors(self, rows: I64, phases: Carried) -> tuple[F64, F64]:
        """Errors of rounded phases in rad at the first and last position of each row, each (n, M), as magnitudes."""
        angles, first, last = phases.astype(np.float64), self.cast.first[rows], self.cast.last[rows]
        exactly = self.steps.phases.is_double
        errors = self._subtract(angles, first, exactly=exactly)
        return errors, errors if self.cast.are_apart else self._subtract(angles, last, exactly=exactly)

    def measure_at(self, rows: I64, positions: F64) -> F64:
        """Largest phase error at exact positions, given the rows that they were cast to; (n,)."""
        angles = self.compute_phases(rows).astype(np.float64)
        exactly = self.steps.phases.is_double
        errors: F64 = self._subtract(angles, positions, exactly=exactly).max(axis=1)
        return errors

    def _subtract(self, angles: F64, ends: F64, *, exactly: bool) -> F64:
        with np.errstate(invalid="ignore", over="ignore"):
            if exactly:
                product, error = _multiply_exactly(ends[:, None], self.waves.high)
                result: F64 = np.abs((angles - product) - (error + ends[:, None] * self.waves.low))
                result[result <= _SETTLED * np.abs(product)] = 0.0
                return result
            # the product's own rounding is 2**-29 or less of what float32 makes
            found = ends[:, None] * self.waves.high
            np.subtract(angles, found, out=found)
            return np.abs(found, out=found)

    def refine_error(self, row: int) -> float:
        """Largest phase error of one row, right to the last digits."""
        angles = self.compute_phases(np.array([row])).astype(np.float64)
        ends = (self.cast.first[[row]], self.cast.last[[row]])
        return max(float(self._subtract(angles, one, exactly=True).max()) for one in ends)

    def measure_position_error(self) -> float | None:
        """Largest error of w s that casting positions alone makes, in rad."""
        error = max(float(np.abs(self.cast.positions - ends).max()) for ends in (self.cast.first, self.cast.last))
        return error * float(self.waves.high.max()) if math.isfinite(error) else None

    def measure_cast_error(self) -> float | None:
        """Largest error of w s that casting positions and frequencies makes, in rad, with an exact product."""
        worst = 0.0
        positions, _, first, last = self.cast
        is_exact = np.array_equal(positions, first) and np.array_equal(first, last)
        # where positions are exact the error grows with them
        rows = np.array([int(np.argmax(np.abs(first)))]) if is_exact else np.arange(len(first))
        cast = self.frequencies.astype(np.float64)
        for part in np.array_split(rows, -(-len(rows) * len(cast) // (1 << 20))):
            product, rest = _multiply_exactly(positions[part].astype(np.float64)[:, None], cast)
            for ends in (first[part], last[part]):
                exact, error = _multiply_exactly(ends[:, None], self.waves.high)
                found = (product - exact) + ((rest - error) - ends[:, None] * self.waves.low)
                worst = max(worst, float(np.abs(found).max())) if np.isfinite(found).all() else math.inf
        return worst if math.isfinite(worst) else None


def _multiply_exactly(a: F64, b: F64) -> tuple[F64, F64]:
    shape = np.broadcast_shapes(a.shape, b.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        return two_product(np.broadcast_to(a, shape), np.broadcast_to(b, shape))


@lru_cache(maxsize=8)
def draw_embedding(columns: int, spread: float, kind: NumberType) -> Carried:
    """Draw one token's embedding: independent normal numbers of standard deviation `spread`, rounded to a type.

    >>> from pe_spectra.precision.dtypes import DTYPES
    >>> draw_embedding(4, 0.0, DTYPES["bfloat16"]).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    embedding = round_to(draw_normal(columns) * spread, kind)
    embedding.flags.writeable = False  # the same array serves every block
    return embedding
