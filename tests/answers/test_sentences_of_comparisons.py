"""Every sentence about two rotations, two tables, or a base for a length, against the numbers themselves."""

import math
import re
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from pe_spectra.answers.agreements import answer_conformance, answer_tables
from pe_spectra.answers.differences import ComparedSide, Setting, answer_differences
from pe_spectra.answers.lengthenings import answer_lengthenings
from pe_spectra.encodings.pairs import list_orders
from pe_spectra.models.comparison.divergence import BREAKS
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.table_diff import compare_tables
from pe_spectra.models.lengths.methods import propose_bases
from pe_spectra.models.stacks.conformance import tabulate_conformance
from tests.answers.holding import NUMBER, hold, is_rounded, list_texts, read_number
from tests.making import draw_table
from tests.models.rotations import find_naively, make_rotation
from tests.models.stack_configurations import EXAMPLES

# ----------------------------------------------------------------------------------- rotations


def draw_rotations(seed):
    """Sides of one to three types of layers: alike, off by a little or much, with other parts, without frequencies."""
    draw = np.random.default_rng(seed)
    for _ in range(40):
        names = (
            ["all"] if draw.random() < 0.6 else ["full_attention", "sliding_attention", "other"][: draw.integers(2, 4)]
        )
        a = [
            make_rotation(base=float(draw.choice([3.0, 1e4])), width=2 * int(draw.integers(1, 6)), name=n)
            for n in names
        ]
        b = []
        for one in a:
            change = draw.choice(
                ["", "", "rounding", "little", "much", "turn", "zero", "base", "layout", "scores", "none"]
            )
            w = one.frequencies
            new = {
                "rounding": {"frequencies": w * (1 + 2.0**-53)},
                "little": {"frequencies": w + 1e-6 * draw.random(len(w)), "base": None},
                "much": {"frequencies": w * draw.choice([1e-4, 0.5, 1.0, 60.0], len(w)), "base": None},
                "turn": {"frequencies": w + 2 * np.pi, "base": None},
                "zero": {"frequencies": w * draw.choice([0.0, 1.0], len(w)), "base": None},
                "layout": {"layout": "interleaved"},
                "scores": {"attention_scaling": 1.25},
                "none": {"frequencies": None},
            }.get(str(change), {})
            b.append(
                make_rotation(base=5e5, width=2 * len(w), name=one.name) if change == "base" else replace(one, **new)
            )
        yield a, b, int(draw.choice([1, 2, 40, 5000]))


class Sides:
    """Each layer's frequencies on both sides, and where the slow search finds the first phase that is off."""

    def __init__(self, a, b, length):
        self.a, self.b, self.length = a, b, length
        self.known = [(one, two) for one, two in zip(a, b, strict=True) if two.frequencies is not None]
        self.gaps = {one.name: np.abs(one.frequencies - two.frequencies) for one, two in self.known}
        self.first = {
            one.name: find_naively(one.frequencies, two.frequencies, min(length, 400)) for one, two in self.known
        }

    def differing(self):
        """Frequencies that differ by more than the rounding of both."""
        return {
            name: gap > 2.0**-49 * one.frequencies
            for (one, _), (name, gap) in zip(self.known, self.gaps.items(), strict=True)
        }

    def all_agree(self):
        return not any(off.any() for off in self.differing().values())

    def alike(self):
        """Whether every other part is the same; of one pair both layouts are."""
        both = list(zip(self.a, self.b, strict=True))
        scores = all((one.attention_scaling, one.offset) == (two.attention_scaling, two.offset) for one, two in both)
        return scores and all(one.layout == two.layout or one.rotary_dim == 2 for one, two in both)


def say_same(s, pairs, layers=None, unknown=None):
    """As many pairs as each type of layer has, and those types alone where others are not known."""
    counted, whole = {len(one.frequencies) for one, _ in s.known}, len(s.known) == len(s.b)
    told = {"frequency of the only pair": {1}, "frequencies of both pairs": {2}, "frequencies of all pairs": counted}
    if pairs not in told:
        told[pairs] = {int(re.fullmatch(r"frequencies of all (\d+) pairs", pairs)[1])}
    assert (layers is None) == whole
    assert whole or re.split(", | and ", layers) == [one.name for one, _ in s.known]
    return s.all_agree() and s.alike() and told[pairs] == counted and (unknown is None) == whole


def say_breaks(s, position, layer, pair):
    found = {name: one for name, one in s.first.items() if one is not None}
    assert (layer is not None) == (len(s.a) > 1)
    first = min(one[0] for one in found.values())
    name = layer or s.a[0].name
    if read_number(position) > 300:
        return True
    off = np.abs(np.angle(np.exp(1j * first * s.gaps[name])))
    return read_number(position) == first and off[int(pair)] > BREAKS and np.isclose(off[int(pair)], off.max())


def say_close(s, length, most=None):
    """No phase is off by so much, or by whole periods alone."""
    largest = max(float(gap.max()) for gap in s.gaps.values()) * (s.length - 1)
    return (
        int(length.replace(",", "")) == s.length
        and not any(s.first.values())
        and (largest > BREAKS if most is None else largest <= BREAKS and is_rounded(most, largest, 2))
    )


def say_phases(s, layer, position, most, length):
    gap = s.gaps[layer or s.a[0].name]
    first = s.first[layer or s.a[0].name]
    right = first is None or read_number(position) == first[0]
    return right and is_rounded(most, float(gap.max()) * (s.length - 1)) and int(length.replace(",", "")) == s.length


def say_phases_within(s, layer, most, length):
    name = layer or s.a[0].name
    return s.first[name] is None and is_rounded(most, float(s.gaps[name].max()) * (s.length - 1))


#: What a verdict begins with: Different, or a cause; tests/models/test_port_faults.py has that causes are right.
CAUSE = r"(?:(?!The same|Same frequencies|phases: )[A-Z].*?)"
DIFF_LAWS = {
    r"The same: the (.*?) agrees?(?: in (.*) layers)?, and so does every other part\.": say_same,
    r"The same, as far as is known: the (.*?) agrees?(?: in (.*?) layers)?; unknown: (.*)\.": say_same,
    r"Not decided: frequencies are unknown \(.*\)\.": lambda s: not s.known,
    rf"{CAUSE}: breaks from position ({NUMBER}) on(?: in (\S+) layers)? \(pair (\d+) is off by "
    r"more than pi/8.*\)\.": say_breaks,
    rf"{CAUSE}: (?:.* )?differs?, but no phase is off by more than pi/8 within ({NUMBER}) positions? "
    rf"\((?:at most ({NUMBER}) rad|whole periods taken off)\)\.": say_close,
    r"Same frequencies; (.*) differs?: .*\.": lambda s, _: s.all_agree() and not s.alike(),
    r"Different: (?!.*breaks|.*, but no phase).*\.": lambda s: (
        not s.all_agree() or (len(s.known) < len(s.b) and not s.alike())
    ),
    rf"phases: (?:(\S+): )?off by more than pi/8 from position ({NUMBER}) on, by up to ({NUMBER}) rad within "
    rf"({NUMBER}) positions?": say_phases,
    rf"phases: (?:(\S+): )?off by ({NUMBER}) rad at most within ({NUMBER}) positions?": say_phases_within,
    r"phases: (?:(\S+): )?equal within .* positions?": lambda s, layer: (
        s.length == 1 or not s.gaps[layer or s.a[0].name].any()
    ),
    r"[AB]: side": lambda _: True,
    r"base .* \(A\) and .* \(B\) .* the same .*": lambda s: any(not off.any() for off in s.differing().values()),
}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_two_rotations_is_true(seed):
    sides = [ComparedSide(name="side", rotations=())] * 2
    for a, b, length in draw_rotations(seed):
        s = Sides(a, b, length)
        diff = compare_rotations(a, b, length=length)
        hold(DIFF_LAWS, list_texts(answer_differences(*sides, diff, Setting(length=length))), s)
        for one in diff.differences:
            found = re.match(
                r"(\d+) of (\d+) pairs differs?(?:, by (?:up to (\S+) %|a factor of up to (\S+)) \(pair (\d+)\))?",
                one.effect,
            )
            if one.what == "frequencies":
                check_sizes(s, one.layers[0], *found.groups())


def check_sizes(s, name, off, pairs, percent, factor, pair):
    differing, (a, b) = s.differing()[name], next(both for both in s.known if both[0].name == name)
    assert (int(off), int(pairs)) == (np.count_nonzero(differing), len(differing))
    turned = differing & (a.frequencies > 0)
    if not turned.any():
        return
    ratios = b.frequencies[turned] / a.frequencies[turned]
    if percent is not None:
        assert is_rounded(percent, 100 * float(np.abs(ratios - 1).max()), 3)
    elif factor is not None:
        ratios = ratios[ratios > 0]
        assert is_rounded(factor, float(np.maximum(ratios, 1 / ratios).max()), 3)


# ----------------------------------------------------------------------------------- tables


def draw_tables(seed):
    """A table and what was made of it: scaled, moved, its columns or rows in another order, rounded, cut, another."""
    draw = np.random.default_rng(seed)
    for n in range(60):
        rows, width = int(draw.choice([1, 2, 3, 12, 30])), int(draw.choice([1, 2, 6]))
        a = draw_table(rows, width, seed=1000 * seed + n)
        if draw.random() < 0.2:
            a = draw.choice([np.zeros_like(a), np.ones_like(a), a.round()])
        b = a.copy()
        for change in draw.choice(
            [
                "same",
                "factor",
                "shift",
                "order",
                "row",
                "reverse",
                "cut",
                "float32",
                "other",
                "T",
                "narrow",
                "shuffle",
                "tiny",
            ],
            int(draw.integers(1, 3)),
        ).tolist():
            if change == "factor":
                b = b * float(draw.choice([2.0, -0.5, 1e-3, 1e-200]))
            elif change == "shift":
                b = np.concatenate([b[1:], b[:1] + 1])
            elif change == "order":
                b = b[:, draw.permutation(b.shape[1])]
            elif change == "row":
                b[int(draw.integers(len(b)))] += 1
            elif change == "reverse":
                b = b[::-1]
            elif change == "cut":
                b = b[: max(1, len(b) - 2)]
            elif change == "float32":
                b = b.astype(np.float32).astype(float)
            elif change == "other":
                b = draw.normal(size=b.shape)
            elif change == "T":
                b = b.T.copy()
            elif change == "narrow":
                b = b[:, : max(1, b.shape[1] - 1)]
            elif change == "shuffle":
                b = b[draw.permutation(len(b))]
        yield a, np.ascontiguousarray(b)


def are_near(one, other):
    """Equal within the rounding of float32, to scale."""
    return np.abs(one - other).max(initial=0) <= 1e-6 * max(np.abs(one).max(initial=0), np.abs(other).max(initial=0))


def say_match(t, index=None, times=None, order=None, but=None):
    """Row by row: B is what the sentence makes of A, but for the rows that it excepts, most of them at least."""
    shift = 0 if not index else int(index.replace(" ", ""))
    found, factor = t.found, float((times or "1").replace(",", ""))
    orders = {words.format(a="A", b="B"): columns for words, columns in list_orders(t.a.shape[1])}
    columns = orders.get(order or "", found.columns)
    excepted = set(found.unmatched_rows)
    named = [int(n) for n in re.findall(r"\d+", but or "")]
    assert bool(named) == bool(excepted)
    assert set(named[: len(excepted)][:3]) <= excepted
    fits = [
        i for i in range(len(t.b)) if 0 <= i + shift < len(t.a) and are_near(factor * t.a[i + shift][columns], t.b[i])
    ]
    return set(range(len(t.b))) - set(fits) <= excepted


def say_rows_equal(t, every, within=None, most=None):
    rows = min(len(t.a), len(t.b))
    counted = re.search(r"\d+", every)
    assert (int(counted[0]) if counted else 1) == rows
    gap = np.abs(t.a[:rows] - t.b[:rows])
    if within is None:
        return not gap.any()
    return gap.any() and is_rounded(most, gap.max(), 2) and are_near(t.a[:rows], t.b[:rows])


def say_some_equal(t, equal, rows, first, apart):
    gap = np.abs(t.a - t.b[: len(t.a)]) if len(t.a) <= len(t.b) else np.abs(t.a[: len(t.b)] - t.b)
    off = gap.any(axis=1)
    right = (int(equal), int(rows), int(first)) == (int((~off).sum()), len(gap), int(np.argmax(off)))
    return right and off.any() and is_rounded(apart, gap.max(), 4)


def say_none_equal(t, apart):
    rows = min(len(t.a), len(t.b))
    gap = np.abs(t.a[:rows] - t.b[:rows])
    return gap.any(axis=1).all() and is_rounded(apart, gap.max(), 4)


def say_likeness(t, cosine, length):
    cosines, times = [], []
    for one, other in zip(t.a, t.b, strict=False):
        if one.any() and other.any():  # to scale, so that squares do not underflow
            x, y = one / np.abs(one).max(), other / np.abs(other).max()
            cosines.append(x @ y / math.sqrt((x @ x) * (y @ y)))
            times.append(np.abs(other).max() / np.abs(one).max() * math.sqrt((y @ y) / (x @ x)))
    found, ratio = float(np.median(cosines)), float(np.median(times))
    near = found >= 0.9999 - 1e-9 if cosine.startswith("1 -") else abs(float(cosine) - found) <= 5.1e-5
    told = re.match(rf"({NUMBER}) times", length)
    return near and (is_rounded(told[1], ratio, 4) if told else abs(ratio - 1) < 5.1e-4)


def sort_rows(table):
    return sorted(map(tuple, (table + 0.0).tolist()))


ORDER = "|".join(
    ["the columns of B are those of A in another order", *(w.format(a="A", b="B") for w, _ in list_orders(4) if w)]
)
TABLE_FINDINGS = {
    rf"row i of B is row i( [+-] \d+)? of A(?:, times ({NUMBER}))?(?:, ({ORDER}))?"
    r"(?:, except (rows? .*) of B)?": say_match,
    rf"()()({ORDER})(?:, except (rows? .*) of B)?": say_match,
    r"A and B are the same except (rows? .*) of B": lambda t, but: say_match(t, None, None, None, but),
    r"(all \d+ rows|the only row|the (?:one row|\d+ rows) that both have) (?:is|are) equal": say_rows_equal,
    rf"(all \d+ rows|the only row|the (?:one row|\d+ rows) that both have) (?:is|are) equal within the rounding of "
    rf"(.*), by ({NUMBER}) at most": say_rows_equal,
    rf"no row equals the one at its index; numbers differ by up to ({NUMBER})": say_none_equal,
    rf"(\d+) of (\d+) rows? (?:is|are) equal; the first that differs is (\d+); numbers differ by "
    rf"up to ({NUMBER})": say_some_equal,
    r"([AB]) has (\d+) rows? more \((\d+) and (\d+)\)": lambda t, more, rows, a, b: (
        (int(a), int(b)) == (len(t.a), len(t.b))
        and int(rows) == abs(len(t.a) - len(t.b))
        and (more == "A") == (len(t.a) > len(t.b))
    ),
    r"the rows of B are those of A in reverse order": lambda t: np.array_equal(t.a, t.b[::-1]),
    r"the rows of B are those of A in another order": lambda t: sort_rows(t.a) == sort_rows(t.b),
    r"(\d+) of (\d+) rows? of B (?:is|are) in A, at other indices": lambda t, found, rows: (
        int(found) == sum(row in set(sort_rows(t.a)) for row in sort_rows(t.b)) and int(rows) == len(t.b)
    ),
    r"A has (\d+) columns and B has (\d+)": lambda t, a, b: (int(a), int(b)) == (t.a.shape[1], t.b.shape[1]),
    r"rows of B are columns of A: .*": lambda t: np.array_equal(t.a, t.b.T),
    r"the first (\d+) columns? (?:are|is) equal \((\d+) rows?\)": lambda t, width, rows: np.array_equal(
        t.a[: int(rows), : int(width)], t.b[: int(rows), : int(width)]
    ),
    r"rows at one index have a cosine of (.*?), B's are (.*) as A's \(medians\)": say_likeness,
    r"([AB]) has only zeros": lambda t, which: not (t.a if which == "A" else t.b).any(),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_two_tables_is_true(seed):
    for a, b in draw_tables(seed):
        found = compare_tables(a, b)
        t = SimpleNamespace(a=a, b=b, found=found)
        hold(TABLE_FINDINGS, found.findings, t)
        verdict = answer_tables("A", "B", found).verdict
        assert (verdict.code == "same") == (a.shape == b.shape and are_near_rows(a, b, found.dtypes))
        assert verdict.text.startswith("The same: " if verdict.code == "same" else "Different: ")


def are_near_rows(a, b, dtypes):
    """Row by row equal within the rounding of the coarser type."""
    unit = 2.0 ** (-24 if "float32" in dtypes else -52)
    size = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    return bool((np.abs(a - b).max(axis=1) <= 4 * unit * size).all())


# ----------------------------------------------------------------------------------- bases for a length


def has_negative(base, d, target):
    """Whether a sum of cosines is negative at a lag up to the target; one that is 0 but for rounding is not."""
    ladder = float(base) ** (-np.arange(0, d, 2) / d)
    return bool((np.cos(np.outer(np.arange(1, target + 1), ladder)).sum(axis=1) < -1e-9).any())


def list_bases(first, last):
    """Numbers of two significant digits, in order."""
    found = {digits * 10.0**power for digits, power in product(range(10, 100), range(-1, 15))}
    return sorted(base for base in found if first <= base <= last and base >= 2)


def say_settled(r, target, d, base, smallest=None, why=None):
    settled = read_number(base)
    right = int(target.replace(",", "")) == r.target and int(d) == r.d
    if smallest is not None:
        first = read_number(smallest)
        assert not has_negative(first, r.d, r.target)
        assert all(has_negative(one, r.d, r.target) for one in list_bases(2, first * 0.999))
        failed, tried = map(int, re.match(r"(\d+) of the (\d+) larger ones", why).groups())
        larger = list_bases(first * 1.001, 2 * first)
        assert (sum(has_negative(one, r.d, r.target) for one in larger), len(larger)) == (failed, tried)
    return right and not any(has_negative(one, r.d, r.target) for one in list_bases(settled, 2 * settled))


BASE_LAWS = {
    rf"For ({NUMBER}) positions at d = (\d+) take base ({NUMBER}): from there to twice that no base with two "
    rf"significant digits has a negative sum of cosines at any lag \(Men et al\.\)(?:; ({NUMBER}) is the smallest, "
    r"but (.*))?\.": say_settled,
    r"For .* take more than base .*": lambda r: {one.name: one.value for one in r.bounds}["men-settled"] is None,
    r"For .*; the smallest was not found: .*": lambda r: {one.name: one.value for one in r.bounds}["men-exact"] is None,
}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("d", "target"), [(4, 8), (4, 40), (6, 100), (8, 300), (16, 64), (32, 500), (64, 900), (10, 8)]
)
def test_what_is_said_of_a_base_for_a_length_is_true(d, target):
    report = propose_bases(d, target)
    hold(BASE_LAWS, [answer_lengthenings(report).verdict.text], report)


# ----------------------------------------------------------------------------------- every implementation


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_said_of_implementations_is_true(name):
    rows = tabulate_conformance(EXAMPLES[name])
    text = answer_conformance("config.json", rows, (), length=4096).verdict.text
    if rows[0].refusal is not None:
        assert text.startswith("transformers-5 refuses this file")
        return
    said = re.fullmatch(
        r"(\d+) of (\d+) implementations give this file the same frequencies(?:; ([^;]*?) gives? others)?"
        r"(?:; ([^;]*?) refuses? it)?\.",
        text,
    )
    refused = [row.stack for row in rows if row.refusal is not None]
    others = [row.stack for row in rows if row.refusal is None and (row.smallest_ratio, row.largest_ratio) != (1, 1)]
    named = [found.split(", ") if found else [] for found in said.groups()[2:]]
    assert named == [others, refused]
    assert (int(said[1]), int(said[2])) == (len(rows) - len(others) - len(refused), len(rows))
