"""Every theorem about injectivity against brute force at small sizes, in exact or 50-digit arithmetic."""

import math
from collections import defaultdict
from itertools import combinations, product

import mpmath
import numpy as np
import pytest

from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.codes import list_places
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.features import LearnableSinusoid
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.encodings.temporal import Time2Vec
from pe_spectra.faithfulness import measure_faithfulness, separation
from pe_spectra.faithfulness.certificates import certify
from pe_spectra.faithfulness.code_table import CodeTable
from tests.making import make_encoding

RHO = (0.5, 1.0, 2.0, 3.0, 10.0, 10000.0)
#: Computed codes closer than this are equal, at the small sizes of this file; others are farther apart.
SAME = 1e-9


def hybrid(*specs, mode="concat", weights=None):
    return Hybrid(of=tuple(make_encoding(spec) for spec in specs), mode=mode, weights=weights)


def compute_codes(encoding, places):
    """Codes of positions or lags, as computed."""
    if hasattr(encoding, "table"):
        return encoding.table(places)
    return encoding.lag_table(places) if hasattr(encoding, "lag_table") else encoding.bias(places).T


def find_equal(rows, same=SAME):
    """All pairs of rows that are equal up to rounding."""
    return [(s, t) for s, t in combinations(range(len(rows)), 2) if np.abs(rows[s] - rows[t]).max() < same]


def compare(encoding, length, same=SAME):
    """Hold a certificate against all pairs of computed codes."""
    injective, certificate, collisions = certify(CodeTable(encoding, length), 10**6)
    places = list_places(encoding, length)
    equal = find_equal(compute_codes(encoding, places), same)
    assert injective is (not equal), (encoding.label, length)
    if collisions.distinct is not None:
        assert collisions.count == len(equal), (encoding.label, length)
    pairs = {tuple(sorted((int(places[s]), int(places[t])))) for s, t in equal}
    assert set(collisions.examples) <= pairs
    assert {place for pair in collisions.examples for place in pair} == {place for pair in pairs for place in pair}
    return certificate.kind


# ----------------------------------------------------------------------------------- angular frequencies


@pytest.mark.parametrize("rho", RHO)
def test_sinusoids_in_50_digits(rho):
    """Exhaustive: every d from 2 to 9, every pair of the first 24 positions; w_0 = 1 rad, and pi is irrational."""
    with mpmath.workdps(50):
        for d in range(2, 10):
            w = [mpmath.mpf(rho) ** (-mpmath.mpf(index - index % 2) / d) for index in range(d)]
            rows = [[(mpmath.cos if i % 2 else mpmath.sin)(w[i] * s) for i in range(d)] for s in range(24)]
            for s, t in combinations(range(24), 2):
                assert max(abs(x - y) for x, y in zip(rows[s], rows[t], strict=True)) > 1e-30
            found = certify(CodeTable(make_encoding(f"sinusoidal:d={d},rho={rho}"), 24), 1)
            assert (found[0], found[1].kind) == (True, "irrational-frequency")


@pytest.mark.parametrize("w", [1, 2, 22 / 7, 355 / 113, 0.1, 1e-3])
def test_a_rational_frequency_comes_near_but_never_back(w):
    """The best that 10**5 positions do is a record of the continued fraction, and it is not 0."""
    with mpmath.workdps(50):
        turn = mpmath.mpf(w) / (2 * mpmath.pi)
        nearest = min(range(1, 2000), key=lambda lag: abs(turn * lag - mpmath.nint(turn * lag)))
        assert abs(turn * nearest - mpmath.nint(turn * nearest)) > 1e-12


# ----------------------------------------------------------------------------------- periods


@pytest.mark.parametrize("d", range(2, 20))
def test_the_dft_repeats_after_d(d):
    """S = d, d + 1, 2 d, 3 d, even and odd d: two codes agree where k s = k t modulo d for all k."""
    for length in (1, d - 1, d, d + 1, 2 * d, 3 * d):
        residues = [tuple(k * s % d for k in range(d // 2 + 1)) for s in range(length)]
        pairs = [(s, t) for s, t in combinations(range(length), 2) if residues[s] == residues[t]]
        found = measure_faithfulness(make_encoding(f"dft:d={d}"), length=length, limit=10**4)
        assert found.collisions.count == len(pairs)
        assert found.injective is (length <= d)
        assert found.collisions.examples == tuple((s, s + d) for s in range(max(0, length - d)))
        if pairs:
            assert (found.closest_pair, found.min_separation, found.error_bound) == ((0, d), 0.0, 0.0)
        elif length > 1:
            assert abs(found.min_separation - math.sqrt(2)) <= found.error_bound < 2e-16
    compare(make_encoding(f"dft:d={d}"), 3 * d)


@pytest.mark.parametrize(("first", "second"), list(product((2, 3, 4, 6), (3, 4, 5, 8))))
def test_periods_side_by_side_have_their_least_common_multiple(first, second):
    period = math.lcm(first, second)
    both = hybrid(f"dft:d={first}", f"dft:d={second}")
    for length in (period, period + 1, 2 * period):
        assert compare(both, length) in ("members", "separation") or length == period
        injective, _, collisions = certify(CodeTable(both, length), 5)
        assert injective is (length <= period)
        assert collisions.first == ((0, period) if length > period else None)


def test_sums_of_periods_repeat_at_the_latest_after_their_least_common_multiple():
    for length in (4, 12, 13, 30):
        encoding = hybrid("dft:d=6", "dft:d=6", mode="sum", weights=(1.0, 2.0))
        found = measure_faithfulness(encoding, length=length)
        assert found.injective is (length <= 6)
        assert found.collisions.first == ((0, 6) if length > 6 else None)


# ----------------------------------------------------------------------------------- every theorem of the catalogue


SPECS = (
    "sinusoidal:d=5,rho=3", "sinusoidal:d=4,rho=1", "sinusoidal:d=4,offset=6", "tensor2tensor:d=6", "tape:d=6",
    "learnable-sinusoid:d=4", "fourier-features:d=4", "pixel-bands:d=4,length=9", "pixel-bands:d=6,length=12",
    "dfstrans:d=4", "dfstrans:d=6", "dfstrans:d=12", "one-hot:d=24", "time2vec:d=2", "time2vec:d=5",
    "mtan-learned:d=4", "mtan:d=6", "rope:d=4,base=3", "rope:d=8,base=20,scaling=resonance",
    "rope:d=6,base=2,scaling=resonance", "rope:d=8,scaling=llama3,original=32,factor=4",
    "rope:d=8,scaling=yarn,factor=4,original=16", "rope:d=8,scaling=linear,factor=3",
    "fope:d=16", "tree:depth=2", "tree:depth=3,branching=3", "calendar:fields=hour", "calendar:fields=weekday",
    "calendar:fields=hour+weekday,rows=fixed,mode=sum", "calendar:fields=hour+weekday,rows=cyclic,mode=sum",
    "alibi:heads=2", "alibi:heads=3,causal=no", "kerple:heads=2", "sandwich:heads=2,d=8",
    "t5:heads=2,bidirectional=no", "t5:heads=2", "shaw:clip=2,d=3", "shaw:clip=5,d=3", "erpe:length=30,heads=2",
)  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_theorems_agree_with_all_pairs(spec):
    encoding = make_encoding(spec)
    last = min(encoding.rows or 30, 30)
    for length in sorted({2, 3, 5, 8, 13, 21, last} & set(range(2, last + 1))):
        compare(encoding, length, same=1e-12 if spec.startswith("sandwich") else SAME)


def test_week_of_hours_with_other_fields():
    """A day of hours, a week of them, and the sum of both with one table: the multiset of the two numbers decides."""
    for length in (24, 25, 100):
        compare(make_encoding("calendar:fields=hour"), length)
    encoding = make_encoding("calendar:fields=hour+weekday,rows=fixed,mode=sum")
    pairs = [((s // 24 + 4) % 7, s % 24) for s in range(200)]  # from a Friday on, Monday being 0
    groups = defaultdict(list)
    for s, numbers in enumerate(pairs):
        groups[tuple(sorted(numbers))].append(s)
    count = sum(len(group) * (len(group) - 1) // 2 for group in groups.values())
    assert certify(CodeTable(encoding, 200), 3)[2].count == count
    compare(encoding, 200)


def test_learned_rows_are_compared_bit_by_bit():
    for seed in range(40):
        table = np.random.default_rng(seed).integers(0, 3, (12, 2)).astype(float)
        assert compare(Learned(values=table), 12) == "rows"
        table[3] = table[7]
        table[3, 1] = np.nextafter(table[3, 1], 9)
        injective = certify(CodeTable(Learned(values=table[[3, 7]]), 2), 1)[0]
        assert injective is True


def test_without_frequencies_all_codes_are_one():
    for encoding in (LearnableSinusoid(values=np.zeros(3)), Time2Vec(values=np.zeros((2, 3)))):
        compare(encoding, 7)
        assert certify(CodeTable(encoding, 7), 1)[2].count == 21
    for still in (Time2Vec(values=np.zeros((2, 3))), LearnableSinusoid(values=np.zeros(3))):
        sampled = Sampled(encoding=still, times=np.array([0.5, 1.5, 0.5, 7.0]))
        assert certify(CodeTable(sampled, 4), 9)[2].count == 6


@pytest.mark.few(14)
@pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)
def test_only_what_is_truly_undecided_is_null(cls):
    """A network whose error is not known, and biases of a query and a key, which have no code by lag."""
    encoding = cls(init="normal", length=40, d=8) if cls is Learned else cls()
    found = measure_faithfulness(encoding, limit=0)
    undecided = {"rnn", "fire", "tupe", "swin"}
    assert (found.injective is None) is (cls.name in undecided)
    if found.injective is None:
        assert found.certificate.kind == "undecided"
        assert "not known" in found.certificate.text or "no vector" in found.certificate.text


# ----------------------------------------------------------------------------------- made from others


def test_real_positions_are_rational():
    times = np.array([0.0, 0.25, 1e-9, 0.25, -0.0, 7.0, 1e6, 0.1])
    encoding = Sampled(encoding=make_encoding("sinusoidal:d=4"), times=times)
    injective, certificate, collisions = certify(CodeTable(encoding, len(times)), 9)
    assert (injective, certificate.kind) == (False, "irrational-frequency")
    assert collisions.examples == ((0, 4), (1, 3))
    assert certify(CodeTable(Sampled(encoding=make_encoding("time2vec:d=3"), times=times[[0, 1, 2]]), 3), 1)[0] is True
    assert (
        certify(CodeTable(Sampled(encoding=make_encoding("ramp"), times=times[[0, 1, 2]]), 3), 1)[1].kind == "monotone"
    )


def test_real_positions_without_a_theorem_are_searched():
    bands = make_encoding("pixel-bands:d=4,length=9")
    twice = Sampled(encoding=bands, times=np.array([0.5, 1.5, 0.5, 2.25]))
    injective, certificate, collisions = certify(CodeTable(twice, 4), 9)
    assert (injective, certificate.kind, collisions.first, collisions.distinct) == (
        False,
        "equal-positions",
        (0, 2),
        None,
    )
    apart = measure_faithfulness(Sampled(encoding=bands, times=np.array([0.5, 1.5, 2.25])))
    assert (apart.injective, apart.certificate.kind) == (True, "separation")


def test_a_sinusoid_and_algebraic_numbers_are_told_apart_at_any_length():
    """By the theorem of Lindemann and Weierstrass; all pairs agree."""
    table = Learned(values=np.zeros((60, 4)))
    for other in (table, make_encoding("dft:d=4"), make_encoding("one-hot:d=4")):
        for length in (2, 4, 30):
            if other.rows is None or length <= other.rows:
                encoding = Hybrid(of=(make_encoding("sinusoidal:d=4"), other), mode="sum", weights=(0.5, -2.0))
                assert compare(encoding, length) == "lindemann-weierstrass"
    far = Hybrid(of=(make_encoding("sinusoidal:d=4"), make_encoding("dft:d=4")), mode="sum")
    assert certify(CodeTable(far, 10**6), 1)[0] is True


def test_parts_that_may_undo_one_another_have_no_theorem():
    pair = Hybrid(
        of=(make_encoding("sinusoidal:d=4,scale=3"), make_encoding("sinusoidal:d=4")), mode="sum", weights=(7.0, -21.0)
    )
    assert certify(CodeTable(pair, 9), 1)[:2][0] is None
    assert measure_faithfulness(pair, length=9).certificate.kind == "rounding"
    weighted = Hybrid(
        of=(make_encoding("sinusoidal:d=4,scale=3"), make_encoding("sinusoidal:d=4")), mode="sum", weights=(7.0, -20.0)
    )
    assert measure_faithfulness(weighted, length=9).certificate.kind == "separation"


def test_factors_of_zero_leave_members_out():
    encoding = Hybrid(of=(make_encoding("sinusoidal:d=4"), make_encoding("dft:d=4")), mode="sum", weights=(0.0, 1.0))
    assert certify(CodeTable(encoding, 5), 1)[2].first == (0, 4)
    beside = Hybrid(of=(make_encoding("sinusoidal:d=4"), make_encoding("dft:d=4")), mode="concat", weights=(0.0, 1.0))
    assert certify(CodeTable(beside, 5), 1)[2].first == (0, 4)


@pytest.mark.parametrize("seed", range(3))
def test_mixed_waves_in_50_digits(seed):
    encoding = make_encoding(f"fope:d=16,length=64,seed={seed}")
    with mpmath.workdps(50):
        words = [mpmath.fsum(map(mpmath.mpf, word.tolist())) for word in encoding.words().T]
        rows = []
        for s in range(12):
            waves = [[wave(w * s) for w in words] for wave in (mpmath.sin, mpmath.cos)]
            mixed = zip(waves, encoding.mixing, strict=True)
            rows.append(
                [
                    mpmath.fdot(zip(wave, map(float, column), strict=True))
                    for wave, matrix in mixed
                    for column in matrix.T
                ]
            )
        for s, t in combinations(range(12), 2):
            assert max(abs(x - y) for x, y in zip(rows[s], rows[t], strict=True)) > 1e-30
    assert certify(CodeTable(encoding, 10**5), 1)[0] is True


@pytest.mark.slow
def test_a_search_beyond_the_budget_says_so():
    encoding = Hybrid(of=(make_encoding("rope:d=4"), make_encoding("sinusoidal:d=4")), mode="sum")
    found = measure_faithfulness(encoding, length=10**6)
    assert found.injective is None
    assert "beyond the budget" in found.certificate.text


def test_what_a_search_would_have_said_is_left_open_beyond_its_budget(monkeypatch):
    encoding = Hybrid(of=(make_encoding("rope:d=4"), make_encoding("sinusoidal:d=4")), mode="sum")
    known = measure_faithfulness(encoding, length=50)
    monkeypatch.setattr(separation, "MAX_PAIR_WORK", 1)
    found = measure_faithfulness(encoding, length=50)
    assert (known.injective, known.certificate.kind) == (True, "separation")
    assert (found.injective, found.certificate.kind, found.min_separation) == (None, "undecided", None)
    assert found.certificate.text.startswith("no theorem about hybrid is known here")
    assert "all pairs of 50 vectors is beyond the budget" in found.certificate.text
    assert any("separations of 50 vectors" in note for note in found.notes)


def test_a_single_position_has_none_to_share_its_code_with():
    found = measure_faithfulness(make_encoding("rnn"), length=1)
    assert (found.injective, found.certificate.kind, found.min_separation) == (True, "single", None)
