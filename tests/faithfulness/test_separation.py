"""The smallest separation of ladders, its witness and its error bound, against search in 50 digits."""

import json
import math
from itertools import combinations, pairwise

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Dft, Sinusoidal, compare_encodings
from pe_spectra.answers.injectivity import answer_faithfulness
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.rotary import Rope
from pe_spectra.exact import ladder_words, sum_cosines
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness import pair_lags as lags_module
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.growth import find_first_repeat
from pe_spectra.faithfulness.pair_lags import PairLags, PairWords, compute_distances, find_closest_lag
from pe_spectra.faithfulness.separation import find_pair_words, find_sidelobe, measure_separation
from tests.faithfulness.digits import distance_at, ladder
from tests.making import make_encoding

RHO = (0.5, 1.0, 2.0, 3.0, 10.0, 10000.0)
EPS = 2.0**-52
ALL_LADDERS = (
    "sinusoidal:d=512", "sinusoidal:d=64", "sinusoidal:d=65", "sinusoidal:d=16", "sinusoidal:d=64,rho=1",
    "sinusoidal:d=256,rho=3", "sinusoidal:d=32,rho=0.5", "rope:base=500000,d=128", "tape:d=64",
    "rope:d=64,base=100,scaling=resonance",
)  # fmt: skip


def search_slowly(d, rho, length):
    """The smallest distance of all pairs, each with its pair, in the current precision."""
    w = ladder(d, rho)
    columns = [mpmath.cos if index % 2 else mpmath.sin for index in range(d)]
    rows = [[wave(w[index // 2] * s) for index, wave in enumerate(columns)] for s in range(length)]
    return min(
        (mpmath.sqrt(mpmath.fsum((x - y) ** 2 for x, y in zip(rows[s], rows[t], strict=True))), (s, t))
        for s, t in combinations(range(length), 2)
    )


# ----------------------------------------------------------------------------------- ladders


@pytest.mark.few(2)
@pytest.mark.parametrize("rho", RHO)
def test_every_small_ladder_in_50_digits(rho):
    """Exhaustive: d from 2 to 7, S from 2 to 12."""
    with mpmath.workdps(50):
        for d in range(2, 8):
            for length in range(2, 13):
                exact, pair = search_slowly(d, rho, length)
                found = measure_faithfulness(Sinusoidal(d=d, rho=rho), length=length)
                assert abs(found.min_separation - exact) <= found.error_bound <= 60 * EPS * max(1.0, float(exact))
                s, t = found.closest_pair
                assert s < t
                assert (s, t) <= pair or abs(found.min_separation / exact - 1) < 1e-14
                if d % 2 == 0:
                    assert (s, t) == (0, pair[1] - pair[0])
                    assert found.error_bound == pytest.approx(2 * EPS * found.min_separation, rel=1e-9)


@pytest.mark.parametrize("offset", [5, 999_983, 1_048_576])
def test_lone_sines_far_from_zero_in_50_digits(offset):
    with mpmath.workdps(50):
        for d, rho, length in ((3, 0.5, 40), (5, 3.0, 7), (7, 10000.0, 40)):
            w = ladder(d, rho)
            lone = [mpmath.sin(w[-1] * (s + offset)) for s in range(length)]
            exact = min(
                mpmath.sqrt(distance_at(w[:-1], t - s) ** 2 + (lone[s] - lone[t]) ** 2)
                for s, t in combinations(range(length), 2)
            )
            found = measure_faithfulness(Sinusoidal(d=d, rho=rho, offset=offset), length=length)
            assert abs(found.min_separation - exact) <= found.error_bound < 1e-13


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("d", "rho", "length", "lag"),
    [(8, 3.0, 800, 446), (8, 10000.0, 6300, 6283), (256, 1.0, 1000, 710), (64, 1.0, 711, 710), (2, 10000.0, 1000, 710),
     (4, 10000.0, 10**6, 735761), (8, 10000.0, 10**6, 169646), (16, 10000.0, 10**6, 615746)],
)  # fmt: skip
def test_known_witnesses(d, rho, length, lag):
    found = measure_separation(CodeTable(Sinusoidal(d=d, rho=rho), length))
    with mpmath.workdps(50):
        exact = distance_at(ladder(d, rho), lag)
        assert abs(found.smallest - exact) <= found.error
    assert found.pair == (0, lag)


@pytest.mark.few(1)
@pytest.mark.parametrize("spec", ["sinusoidal:d=256", "rope:base=500000,d=128", "sinusoidal:d=255"])
def test_a_million_positions_have_their_certificate(spec):
    encoding = make_encoding(spec)
    found = measure_faithfulness(encoding, length=1_000_000)
    assert found.injective is True
    assert 0 < found.error_bound < 2e-14
    s, t = found.closest_pair
    assert t - s == 1
    with mpmath.workdps(50):
        w = ladder(encoding.d, 500000.0 if spec.startswith("rope") else 10000.0)
        if encoding.d % 2:
            lone = mpmath.sin(w[-1] * t) - mpmath.sin(w[-1] * s)
            exact = mpmath.sqrt(distance_at(w[:-1], 1) ** 2 + lone**2)
        else:
            exact = distance_at(w, 1)
        assert abs(found.min_separation - exact) <= found.error_bound


@pytest.mark.few(20)
@pytest.mark.parametrize("spec", ALL_LADDERS)
@pytest.mark.parametrize("length", [40, 2047, 2048, 5000, 100_000])
def test_few_frequencies_rule_out_most_lags(spec, length):
    words = find_pair_words(make_encoding(spec))
    found, slow = find_closest_lag(words, length), PairLags(words, length).find_closest()
    assert (found.pair, found.error) == (slow.pair, slow.error)
    assert found.distance == slow.distance


@pytest.mark.parametrize(("d", "lag"), [(4, 735761), (8, 169646), (16, 615746), (512, 1)])
def test_closest_of_a_million_lags(d, lag):
    assert find_closest_lag(find_pair_words(Sinusoidal(d=d)), 10**6).pair == (0, lag)


@pytest.mark.slow
def test_wide_ladders_over_a_million_lags():
    found = measure_separation(CodeTable(Sinusoidal(d=4096), 1_000_000))
    assert found.pair == (0, 1)
    words = Sinusoidal(d=4096).words()
    lags = np.random.default_rng(0).integers(2, 10**6, 500)
    assert compute_distances(words, lags).min() > found.smallest


@pytest.mark.parametrize(("d", "rho"), [(2, 10000.0), (8, 3.0), (64, 10000.0), (256, 10000.0), (16, 1.0)])
def test_separations_at_positions_up_to_a_billion_in_50_digits(d, rho):
    """Arguments are reduced before a sine sees them: both the lag and the positions may be large."""
    words = Sinusoidal(d=d, rho=rho).words()
    lags = [1, 7, 710, 999_983, 10**9 - 1, 10**9, 411_557_987]
    found = compute_distances(words, np.array(lags))
    naive = []
    with mpmath.workdps(50):
        for lag, ours in zip(lags, found.tolist(), strict=True):
            exact = distance_at(ladder(d, rho), lag)
            assert abs(ours / exact - 1) < 2e-15
            w = np.array([rho ** (-index / d) for index in range(0, d, 2)])
            codes = [np.concatenate([np.sin(w * s), np.cos(w * s)]) for s in (10**9, 10**9 + lag)]
            naive.append(float(abs(np.linalg.norm(codes[0] - codes[1]) / exact - 1)))
    if rho > 1:
        assert max(naive) > 1e-9  # what the obvious way loses


@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=64", "rope:base=500000,d=64", "tape:d=16", "rope:d=16,scaling=linear,factor=7"]
)
def test_products_of_tables_are_right_to_what_they_claim(spec):
    words = find_pair_words(make_encoding(spec))
    lags = PairLags(words, 200_000)
    some = np.random.default_rng(1).integers(1, 200_000, 4000)
    squared = compute_distances(words.words[:, : words.count], some) ** 2
    assert np.abs(2 * (words.count - lags.kernel[some]) - squared).max() < lags._slack / 8


def test_lags_that_are_given_up_are_none_that_could_win(monkeypatch):
    monkeypatch.setattr(lags_module, "_NEAR_TERMS", 1)
    monkeypatch.setattr(lags_module, "_EXACT_CURVE", 1)
    for frequencies in (np.linspace(2e-9, 1e-9, 40), np.linspace(1e-6, 1e-7, 21), np.array([1.0, 1e-7, 3e-8])):
        words = np.stack([frequencies, np.zeros_like(frequencies), np.zeros_like(frequencies)])
        pairs = PairWords(words=words, count=len(frequencies), amplitude=2.0, phase=0.0)
        found = PairLags(pairs, 3000).find_closest()
        exact = 2 * compute_distances(words, np.arange(1, 3000))
        assert found.pair == (0, 1 + int(exact.argmin()))
        assert_allclose(found.distance, exact.min(), rtol=1e-15)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "spec",
    [
        "sinusoidal:d=8,rho=3",
        "sinusoidal:d=9,rho=3",
        "rope:d=8,base=20,scaling=resonance",
        "dft:d=7",
        "time2vec:d=4",
        "alibi:heads=2",
    ],
)
def test_separation_falls_with_the_length(spec):
    encoding = make_encoding(spec)
    first = measure_faithfulness(encoding, length=20)
    grown = first.separation_by_length
    assert (grown[0].length, grown[0].separation, grown[0].pair) == (20, first.min_separation, first.closest_pair)
    assert [one.length for one in grown] == [20 << power for power in range(len(grown))]
    assert len(grown) > 6
    for before, after in pairwise(grown):
        assert after.separation <= before.separation
        assert after.pair >= (0, 1)
    for one in grown[:6]:
        found = measure_faithfulness(encoding, length=one.length)
        assert_allclose(one.separation, found.min_separation, rtol=1e-15, atol=1e-15)
        assert one.pair == found.closest_pair


def test_tables_grow_to_their_last_row():
    table = np.random.default_rng(5).normal(size=(100, 3))
    found = measure_faithfulness(Learned(values=table), length=12)
    assert [one.length for one in found.separation_by_length] == [12, 24, 48, 96, 100]
    assert measure_faithfulness(Learned(values=table)).separation_by_length[0].length == 100
    assert measure_faithfulness(Learned(values=table), length=1).separation_by_length == ()
    lags = measure_faithfulness(make_encoding("erpe:length=8,heads=2"), length=8)
    assert len(lags.separation_by_length) == 1


# ----------------------------------------------------------------------------------- the DFT


@pytest.mark.few(2)
@pytest.mark.parametrize("d", [2, 3, 4, 5, 64, 65, 256, 257])
def test_duplicates_of_the_dft_are_exact(d):
    for length in (d, d + 1, 2 * d):
        found = measure_faithfulness(make_encoding(f"dft:d={d}"), length=length)
        rows = make_encoding(f"dft:d={d}").table(length)
        assert found.collisions.count == length - d == len(rows) - len(np.unique(rows, axis=0))
        assert (found.injective, found.condition_number is not None) == (length == d, True)
    assert found.separation_by_length[-1].separation == 0.0


# ----------------------------------------------------------------------------------- how it is told


def test_the_answer_has_the_bound_beside_the_distance():
    result = measure_faithfulness(Sinusoidal(d=256), length=80)
    answer = answer_faithfulness([result])
    assert answer.verdict.text.endswith("neighbours (lag 1, 0 and 1), distance 2.6712 (+- 1.2e-15).")
    assert ("longer", "smallest separation 2.6712 up to length 655360") in answer.facts
    (row,) = json.loads(json.dumps(answer.to_document(None)))["rows"]
    assert row["error_bound"] == result.error_bound
    assert row["separation_by_length"][0] == [80, result.min_separation, [0, 1]]
    assert row["separation_by_length"][-1][0] == 655360
    assert row["singular_values"] == result.singular_values.tolist()
    assert list(answer.columns["error_bound"]) == [result.error_bound]


def test_longer_lengths_are_told_in_words():
    facts = dict(answer_faithfulness([measure_faithfulness(Sinusoidal(d=8, rho=3.0), length=400)]).facts)
    assert facts["longer"].startswith("smallest separation ")
    assert facts["longer"].endswith("up to length 819200")
    assert "length 819200 (positions 0 and 780623)" in facts["longer"]
    collided = answer_faithfulness([measure_faithfulness(make_encoding("dft:d=4"), length=9)])
    assert "longer" not in dict(collided.facts)
    biases = dict(answer_faithfulness([measure_faithfulness(make_encoding("t5:heads=8"), length=20)]).facts)
    assert biases["rank"].startswith("8 of 8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "length", "pair"),
    [
        ("dft:d=9", 10, (0, 9)),
        ("dft:d=256", 257, (0, 256)),
        ("calendar:rows=fixed,mode=sum", 74, (0, 73)),
        ("tree:branching=2,depth=3", 16, (7, 15)),  # the last three steps of 15 are those of 7, and of no one before
        ("t5:heads=2", 10, (8, 9)),
    ],
)
def test_the_first_length_that_repeats_is_the_first(spec, length, pair):
    encoding = make_encoding(spec)
    for start in (1, 5, length - 1):
        repeat = find_first_repeat(encoding, start)
        assert (repeat.above, repeat.length, repeat.pair) == (length - 1, length, pair)
    shorter = np.arange(length - 1)
    places = shorter if encoding.domain == "positions" else np.concatenate([shorter, -shorter[1:]])
    read = encoding.table if encoding.domain == "positions" else lambda lags: encoding.bias(lags).T
    distances = np.linalg.norm(read(places)[:, None] - read(places)[None, :], axis=2)
    assert distances[~np.eye(len(places), dtype=bool)].min() > 1e-9
    assert np.ptp(read(np.array(pair)), axis=0).max() < 1e-12
    facts = dict(answer_faithfulness([measure_faithfulness(encoding, length=length - 1)]).facts)
    assert f"two vectors are first the same at length {length} (" in facts["longer"]


def test_a_repeat_is_between_two_lengths_where_no_key_is_exact(monkeypatch):
    encoding = make_encoding("hybrid:of='dft:d=6'+'dft:d=6',mode=sum")
    assert find_first_repeat(encoding, 5) == (6, 7, (0, 6))
    monkeypatch.setattr("pe_spectra.faithfulness.certificates.MAX_DIRECT_WORK", 0)
    assert find_first_repeat(encoding, 5) == (5, 7, (0, 6))
    facts = dict(answer_faithfulness([measure_faithfulness(encoding, length=5)]).facts)
    assert facts["longer"].endswith("first the same at a length above 5 and at most 7 (positions 0 and 6)")


def test_bounds_hold_for_amplitudes():
    rope = Rope(d=16, scaling="yarn", factor=4.0, original=64, attention_factor=2.0)
    found = measure_faithfulness(rope, length=50)
    rows = rope.table(50)
    assert abs(found.min_separation - math.dist(rows[found.closest_pair[0]], rows[found.closest_pair[1]])) < 1e-13
    assert found.error_bound == pytest.approx(3 * EPS * found.min_separation, rel=1e-6)


# ----------------------------------------------------------------------------------- figures


def test_witnesses_lie_within_the_length():
    found = measure_separation(CodeTable(Dft(d=8), 8))
    assert (found.pair, found.sidelobe) == ((0, 1), None)
    assert measure_separation(CodeTable(Dft(d=8), 9)).pair == (0, 8)


def test_of_positions_that_tie_the_first_is_named_with_a_lone_sine_too():
    """The lone sine turns by 1e-200 rad: no double sees where it is, so that all pairs at a lag are equally far."""
    assert measure_separation(CodeTable(Sinusoidal(d=3, rho=1e300), 100)).pair == (0, 44)


# ----------------------------------------------------------------------------------- sidelobes


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([1.0, 0.0, 0.2, 0.1, 0.5, 0.5, 0.6, 0.7], (2, 0.2)),  # a stair that rises to the end
        ([1.0, 0.0, 0.2, 0.1, 0.5, 0.5, 0.6, 0.4], (6, 0.6)),
        ([1.0, 0.0, 0.5, 0.5], None),  # a shelf at the end
        ([1.0, 0.7, 0.7, 0.2, 0.2, 0.1], None),  # a stair that falls
        ([1.0, 0.2, 0.5, 0.5, 0.1], (2, 0.5)),
        ([1.0, 1.2, 0.5, 0.6], (1, 1.2)),
        ([1.0], None),
        # rounding alone, on two sides of a half multiple of 1e-9
        ([1.0, 0.2, 0.5 + 4.999e-10, 0.2, 0.5 + 5.001e-10, 0.1], (2, 0.5 + 4.999e-10)),
        ([1.0, 0.5 - 5.001e-10, 0.5 - 4.999e-10, 0.5 - 5.001e-10, 0.4], None),
        # a slow fall whose single steps are below 1e-9 is a fall
        ([1.0, 0.2, *(0.5 - 4e-10 * np.arange(8)), 0.5], (2, 0.5)),
    ],
)
def test_a_sidelobe_has_fallen_again(kernel, expected):
    found = find_sidelobe(np.array(kernel))
    assert (None if found is None else (found.lag, found.value)) == expected


def test_the_last_bucket_of_a_bias_is_no_sidelobe():
    encoding = make_encoding("t5:heads=1,seed=27,bidirectional=no")
    kernel = np.exp(encoding.bias(np.arange(128))[0])  # what softmax makes of it
    inner = [lag for lag in range(1, 127) if kernel[lag - 1] < kernel[lag] > kernel[lag + 1]]
    found = find_sidelobe(kernel / kernel[0])
    assert (found.lag, round(found.value, 4)) == (7, 0.9834)
    assert max(inner, key=lambda lag: kernel[lag]) == 7
    (one,) = compare_encodings([encoding], length=128)
    assert one.values["sidelobe_lag"] == 7
    assert one.values["sidelobe_ratio"] == pytest.approx(found.value, rel=1e-15)


@pytest.mark.parametrize(("scale", "count", "first"), [(1.0, 3, 1), (1.0, 40, 1), (1.0, 200, 1), (2.0**20, 3, 900000)])
def test_no_lag_is_lost_to_the_rounding_of_a_first_look_in_float32(scale, count, first):
    """Every lag whose sum of cosines is at least so large is listed; without the slack some are not."""
    words, lags = scale * ladder_words(2.0, 2 * count), np.arange(first, first + 5000)
    sums, length = sum_cosines(words, np.ones(count), lags), first + 5000
    slack, lost = lags_module._bound_first_look(words, length), 0
    for place in range(0, len(lags), 100):
        assert lags[place] in lags_module._list_low(words, length, float(sums[place]) - slack)
        lost += lags[place] not in lags_module._list_low(words, length, float(sums[place]))
    assert lost
