"""Every sentence about Definition 1 against the distances of all pairs."""

import math
import re
from itertools import combinations

import numpy as np
import pytest

from pe_spectra import compute_spectrum, measure_faithfulness
from pe_spectra.answers.injectivity import answer_faithfulness, entitle_separations
from pe_spectra.errors import InputError
from tests import naive
from tests.answers.holding import (
    NUMBER,
    hold,
    is_rounded,
    list_encodings,
    list_places,
    list_texts,
    read_codes,
    read_number,
)

# ----------------------------------------------------------------------------------- faithfulness


class Measured:
    """One encoding at one length, with all distances: equal vectors are equal, or nearer than any others are."""

    def __init__(self, encoding, length, within=None):
        self.result = measure_faithfulness(encoding, length=length, within=within)
        self.size, self.within = self.result.length, within
        self.places = list_places(encoding, self.size)
        self.codes = read_codes(encoding, self.places)
        self.given = encoding.name == "learned"

    def distance(self, s, t):
        rows = self.codes[np.searchsorted(self.places, [int(s), int(t)])]
        return math.hypot(*(rows[0] - rows[1]))  # does not underflow

    def is_equal(self, s, t):
        return self.distance(s, t) <= (0 if self.given else 1e-9)

    def pairs(self):
        return combinations(self.places.tolist(), 2)

    def equal(self):
        return [pair for pair in self.pairs() if self.is_equal(*pair)]


def say_equal(m, domain, s, t, pairs, sharing=None, distinct=None):
    equal = m.equal()
    shared = {place for pair in equal for place in pair}
    groups = len(m.places) - len(shared) + sum(all(t != s for _, t in equal) for s in shared)
    counted = sharing is None or (read_number(sharing), read_number(distinct)) == (len(shared), groups)
    named = (int(s), int(t)) in equal or (int(t), int(s)) in equal
    return domain == m.result.domain and named and read_number(pairs) == len(equal) and counted


def say_closest(m, _, s, t, lag, distance, lost=None):
    smallest = min(m.distance(*pair) for pair in m.pairs())
    near = math.isclose(m.distance(s, t), smallest, rel_tol=1e-6, abs_tol=1e-13)
    is_lag = int(lag) == int(t) - int(s)
    return (
        not m.equal()
        and near
        and is_lag
        and is_rounded(distance, smallest, 1)
        and (lost is None) != (m.result.outcome == "distinct-by-rounding")
    )


def say_neighbours(m, _, distance, lost=None):
    return say_closest(m, _, m.result.closest_pair[0], m.result.closest_pair[1], 1, distance, lost)


def say_collisions(m, listed, more=None):
    equal = m.equal()
    named = [tuple(one.split(" = ")) for one in listed.split(", ")]
    return len(named) + int((more or "0").replace(",", "")) == len(equal) and all(a != b for a, b in named)


def say_rank(m, rank, of, above=None, condition=None):
    values = np.linalg.svd(m.codes, compute_uv=False)
    tolerance = max(m.codes.shape) * np.finfo(float).eps * values[0]
    right = int(of) == len(values) and (int(rank) == np.count_nonzero(values > tolerance) or values[0] < 1e-280)
    if condition is None:
        return right and not values.any()
    if condition == "> 1e15":
        return right and values[-1] <= values[0] * 1e-13
    return right and is_rounded(condition, values[0] / values[-1], 2 if values[0] / values[-1] < 1e10 else 0)


def say_growth(m, smallest=None, last=None, falls=None, top=None, since=None, pair=None):
    def measure(length):
        """The distances of all pairs at a length, and those of the places of `pair`."""
        places = list_places(m.result.encoding, length)
        codes = read_codes(m.result.encoding, places)
        largest = np.abs(codes).max() or 1.0  # squares of its parts do not underflow
        gaps = np.linalg.norm(codes[:, None] / largest - codes[None] / largest, axis=-1) * largest
        return gaps[np.triu_indices(len(places), 1)].min(initial=np.inf), gaps, places

    listed = [(smallest, last), (smallest, m.size)] if smallest else []
    listed += [tuple(one.split(" (")[0].split(" at length ")) for one in (falls or "").split("), ") if one]
    for value, length in listed:
        assert int(length) > 300 or is_rounded(value, measure(int(length))[0], 3)
    if since is not None:
        least, gaps, places = measure(int(since))
        first, second = np.searchsorted(places, [int(one) for one in pair.split(" and ")])
        assert least < 1e-9
        assert gaps[first, second] < 1e-9
        assert all(measure(length)[0] > 1e-9 for length in range(m.size, int(since)))
    return True


def say_near(m, count, radius, rest):
    inside = [pair for pair in m.pairs() if not m.is_equal(*pair) and m.distance(*pair) <= m.within]
    return read_number(count) == len(inside) and is_rounded(radius, m.within)


def say_sidelobe(m, value, lag):
    if m.result.domain == "lags":
        return m.result.sidelobe.lag == int(lag)
    kernels = [naive.gram_diagonals(m.codes / (np.abs(m.codes).max() or 1))]
    if hasattr(m.result.encoding, "frequencies"):  # of a ladder, whose last sine may have no cosine
        found = m.result.encoding.frequencies()
        kernels += [np.array([naive.kernel(found.values, found.masses, tau) for tau in range(m.size)])]
    place = int(lag)
    return any(is_rounded(value, k[place] / k[0]) and max(k[:place].min(), k[place:].min()) < k[place] for k in kernels)


def say_algorithm(m, width, error, bandwidth):
    spectrum = compute_spectrum(m.result.encoding, length=None if m.result.encoding.shape else m.size)
    curve = naive.reconstruct(naive.one_hot(spectrum.grid, 0), spectrum.multipliers)
    wide = naive.width(np.roll(curve, -int(np.argmax(curve))), 0.5)
    off = float(np.linalg.norm(curve - naive.one_hot(spectrum.grid, 0)))
    same = wide is None if width == "no half width" else is_rounded(width.split()[1], wide)
    return same and (is_rounded(error, off) or abs(off - read_number(error)) < 1e-9) and float(bandwidth) in (1.0, 4.0)


PLACES = r"(?:0 \.\. [0-9]+|lags between [0-9]+ positions)"
NAMES = r"(?: \([^()]*(?:\([^()]*\)[^()]*)*\))?"
CLOSEST = rf"distance ({NUMBER}) \((?:\+- {NUMBER}|exact|error not known)\)(; .* rounds? off.*)?\."
LAWS = {
    r"Not decided: .*\.": lambda m: m.result.injective is None,
    rf"Not injective: (positions|lags) (-?\d+) and (-?\d+){NAMES} have the same vector \(({NUMBER}) such pairs?"
    rf"(?:; ({NUMBER}) (?:positions|lags) share theirs with another, ({NUMBER}) distinct)?\); .*\.": say_equal,
    rf"(?:Injective|Distinct) on {PLACES}(?:, but by no more than float64 rounds off)?: "
    r"(?:(?! Closest: ).)*": lambda m: len(m.places) == 1 or m.result.min_separation is None,
    rf"(?:Injective|Distinct) on {PLACES}(?:, but by no more than float64 rounds off)?: .* "
    rf"Closest: (positions|lags) (-?\d+) and (-?\d+){NAMES} \(lag (\d+)\), {CLOSEST}": say_closest,
    rf"(?:Injective|Distinct) on {PLACES}(?:, but by no more than float64 rounds off)?: .* "
    rf"Closest: (neighbours) \(lag 1, .* and .*\), {CLOSEST}": say_neighbours,
    rf"collisions: (.*?)(?:, and ({NUMBER}) more pairs?)?": say_collisions,
    rf"near pairs: ({NUMBER}) pairs? of different vectors within ({NUMBER})(.*)": say_near,
    rf"rank: (\d+) of (\d+)(?: \(singular values above ({NUMBER})\))?(?:; condition (.*))?": say_rank,
    rf"longer: (?:smallest separation (?:({NUMBER}) up to length (\d+)|({NUMBER} at length .*\)); up to length (\d+)))?"
    rf"(?:; )?(?:two vectors are first the same at length (\d+) \((?:positions|lags) "
    rf"([-0-9]+ and [-0-9]+){NAMES}\))?": say_growth,
    rf"sidelobe: ({NUMBER}) of the kernel's value at lag 0, at lag (\d+)": say_sidelobe,
    rf"Algorithm 1: (no half width|width {NUMBER} positions at half), relative error ({NUMBER}), "
    r"at bandwidth ([\d.]+)": say_algorithm,
    r"rank and condition number of a .* table are beyond .*": lambda m: m.result.rank is None,
    r"all vectors are zero, so they have no condition number": lambda m: not m.codes.any(),
    r"condition number > 1e15: .*": lambda m: m.result.condition_number is None,
    r"a single position has no pair, so what follows from it is left out": lambda m: len(m.places) == 1,
    r"no (?:reconstruction|near pairs): .*": lambda m: m.result.fwhm is None or m.result.near_pairs is None,
    r"its bias belongs to a query and a key, .*": lambda m: m.codes is None,
    r".*: separation of .*|the smallest separation is .*": lambda m: m.result.min_separation is None,
    r"how exact its computed vectors are is not known, so error_bound is left out": lambda m: (
        m.result.error_bound is None
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_faithfulness_is_true(seed):
    draw = np.random.default_rng(seed)
    for encoding in list_encodings(seed):
        for length in {1, 2, int(draw.integers(3, 45))}:
            try:
                m = Measured(encoding, length, within=float(draw.choice([1e-3, 0.5, 2.0])))
            except InputError:
                continue
            answer = answer_faithfulness([m.result])
            hold(LAWS, list_texts(answer, without=encoding.all_notes), m)


def read_clauses(text):
    """The clauses of a verdict about several, each with its names and places."""
    found = {}
    for clause in re.split(r"(?<=[a-z0-9)])\. (?=[A-Z])", text.removesuffix(".")):
        head, _, names = clause.partition(": ")
        found[head] = names
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_several_is_what_is_said_of_each(seed):
    draw = np.random.default_rng(seed)
    known = [one for one in list_encodings(seed) if one.rows is None or one.rows >= 7]
    words = {"not-injective": "Not injective", "injective": "Injective", "undecided": "Not decided"}
    words["distinct-by-rounding"] = "Distinct"
    for _ in range(12):
        lengths = draw.choice([5, 6, 7], 2)
        chosen = draw.choice(len(known), int(draw.integers(2, 5)), replace=False)
        results = [measure_faithfulness(known[k], length=int(lengths[n % 2])) for n, k in enumerate(chosen)]
        clauses = read_clauses(answer_faithfulness(results).verdict.text)
        for outcome, head in words.items():
            mine = [one for one in results if one.outcome == outcome]
            named = " ".join(names for said, names in clauses.items() if said.startswith(head))
            assert bool(mine) == bool(named)
            assert all(one.encoding.name in named or one.encoding.label in named for one in mine[:4])
        for said in clauses:
            assert all(one.length == int(n) for one in results for n in re.findall(r"at length (\d+)", said))
            assert all(one.length == int(n) + 1 for one in results for n in re.findall(r" on 0 \.\. (\d+)", said))


@pytest.mark.parametrize("seed", range(2))
def test_the_title_of_separations_names_the_closest_pair(seed):
    for encoding in list_encodings(seed):
        m = Measured(encoding, 6 if encoding.rows is None else min(6, encoding.rows))
        title = entitle_separations([m.result])
        if title.endswith("have the same vector"):
            s, t = re.search(r"(-?\d+) and (-?\d+)", title).groups()
            assert m.is_equal(s, t)
        elif found := re.search(r"those of (neighbours|[a-z]+ (\d+) apart), at distance (.*)", title):
            lag, smallest = int(found[2] or 1), min(m.distance(*pair) for pair in m.pairs())
            assert is_rounded(found[3], smallest, 3)
            assert any(math.isclose(m.distance(s, t), smallest, rel_tol=1e-6) for s, t in m.pairs() if t - s == lag)
        else:
            assert title == answer_faithfulness([m.result]).verdict.text.removesuffix(".")
