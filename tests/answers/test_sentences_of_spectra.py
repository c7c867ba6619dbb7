"""Every sentence about low-bin counts, Algorithm 1 and spectra against slow arithmetic."""

import math
import re

import numpy as np
import pytest

from pe_spectra import compute_spectrum, count_low_bin, read_encoding, reconstruct_positions
from pe_spectra.answers.captions import entitle_spectra, name_spectra
from pe_spectra.answers.counts import answer_counts
from pe_spectra.answers.reconstructions import answer_reconstructions
from pe_spectra.answers.spectra import answer_spectra
from pe_spectra.domains import read_duration
from pe_spectra.errors import InputError, UndefinedError
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
from tests.spectrum.test_evenness import check

# ----------------------------------------------------------------------------------- low-bin counts


def draw_counts(seed):
    """Ladders of every kind: odd, of two columns, with zero frequencies, of one frequency, at lengths huge and tiny."""
    draw = np.random.default_rng(seed)
    for _ in range(25):
        d, rho = int(draw.integers(2, 40)), float(draw.choice([1.0, 0.5, 7.0, 1e4, 1e300]))
        specs = [f"sinusoidal:d={d},rho={rho!r}", f"dft:d={d}", f"dfstrans:d={2 * d}", f"rope:d={2 * d},base={rho + 1}"]
        specs += [f"rope:d={2 * d},scaling=proportional,share=0.25", f"tape:d={2 * d}", f"mtan:d={2 * d}"]
        yield read_encoding(str(draw.choice(specs))), draw.choice([None, 1, 2, 7, 100, 2**30])


def say_low(count, inside, total, share, between, edge, zero=None, label=None):
    points = count.encoding.default_grid if count.length is None else count.length
    values = count.encoding.frequencies().values.tolist()
    below = [w for w in values if 0 < w < 2 * math.pi / points and not math.isclose(w, 2 * math.pi / points)]
    zeros = values.count(0.0)
    right = (int(inside), int(total), int(edge)) == (len(below), len(values), points)
    same = abs(100 * len(below) / len(values) - float(share)) <= 0.0500001
    return right and same and int(zero or 0) == zeros and (between == "between 0 and") == bool(zeros)


LOW = (
    r"(\d+) of (\d+) frequencies \(([\d.]+) %\) lie (between 0 and|below) 2 pi/(\d+)"
    r"(?: \((\d+) others? (?:is|are) 0, constant over positions\))? for (.*)"
)
LOW_LAWS = {
    rf"{LOW}\.": say_low,
    r"inside: 0 < w < bin_edge, counted exactly; crossing is l\* of Eq\. 16": lambda count: (
        count.crossing is None
        or math.isclose(
            getattr(count.encoding, "rho", 0.0) ** (-count.crossing / count.encoding.d), count.bin_edge, rel_tol=1e-9
        )
        or count.encoding.rho > 1e200
    ),
    r".*: all frequencies are 1 rad, so the ladder never crosses the edge": lambda count: (
        count.encoding.name == "sinusoidal" and set(count.encoding.frequencies().values.tolist()) == {1.0}
    ),
}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_low_bins_is_true(seed):
    counts = [count_low_bin(encoding, length=None if n is None else int(n)) for encoding, n in draw_counts(seed)]
    for count in counts:
        answer = answer_counts([count])
        hold(LOW_LAWS, list_texts(answer, without=count.encoding.all_notes), count)
        assert (answer.verdict.code == "crowded-low-bin") == (4 * count.inside > count.total)
        assert any("all frequencies are 1 rad" in note for note in answer.notes) == (
            count.encoding.name == "sinusoidal" and count.encoding.rho == 1
        )
    several = answer_counts(counts[:7]).verdict.text.removesuffix(".").split("; ")
    for count, part in zip(counts, several[:4], strict=False):
        assert say_low(count, *re.fullmatch(LOW, part).groups())
    assert several[-1] == "and 3 more"


# ----------------------------------------------------------------------------------- Algorithm 1


class Blurred:
    """What the slow way makes of position 0 through a spectrum."""

    def __init__(self, spectrum):
        self.spectrum, n = spectrum, spectrum.grid
        self.curve = naive.reconstruct(naive.one_hot(n, 0), spectrum.multipliers)
        top = self.curve.max()
        peak = int(np.flatnonzero(self.curve >= top * (1 - 1e-9))[0])
        self.away, self.peak = min(peak, n - peak), float(self.curve[peak])
        self.error = float(np.linalg.norm(self.curve - naive.one_hot(n, 0)))
        self.half, self.tenth = (naive.width(self.curve, part) for part in (0.5, 0.1))
        self.code = "peak-moved" if self.away else "blurred" if self.error > 1e-9 else "exact"


def is_width(text, width, digits=1):
    return (text is None) == (width is None) and (text is None or abs(float(text) - width) <= 0.51 * 10.0**-digits)


def say_exact(every, names):
    return all(one.code == "exact" for one in every)


def say_come_back(every, bandwidth, away, alone, least, most, back):
    codes = [one.code for one in every]
    used = {one.spectrum.bandwidth for one in every} - {None}
    assert (bandwidth is not None) == (len(used) == 1)
    assert bandwidth is None or used == {float(bandwidth)}
    assert (away is not None, back is not None) == ("peak-moved" in codes, "exact" in codes)
    moved = [one for one in every if one.code == "peak-moved"]
    listed = [int(n.replace(",", "")) for n in re.findall(r"\(([\d,]+) positions? away\)", away or "")]
    assert listed == [one.away for one in moved][: len(listed)]
    wide = sorted((one for one in every if one.code == "blurred"), key=lambda one: one.half or math.inf)
    assert ((alone is not None), (least is not None)) == (len(wide) == 1, len(wide) > 1)
    for said, one in ((alone, wide[:1]), (least, wide[:1])):
        if said is not None:
            found = re.match(r"to ([\d.]+) positions \(full width at half maximum(?:, ([\d.]+) at a tenth)?\)", said)
            assert (found is None) == (one[0].half is None)
            assert found is None or (is_width(found[1], one[0].half) and is_width(found[2], one[0].tenth))
    if alone is not None:
        assert is_rounded(re.search(r", peak (\S+), through", alone)[1], wide[0].peak, 2)
    if most is not None:
        assert most.startswith("one that never") == (wide[-1].half is None)
        assert wide[-1].half is None or is_width(most.split()[0], wide[-1].half)
    return True


def say_position(every, peak, away, width, tenth, error, literal):
    """A line is about the spectrum whose curve it is."""

    def is_of(one):
        plain = is_rounded(peak, one.peak, 3) and int((away or "0").replace(",", "")) == one.away
        never = width.startswith("never") or one.half is None
        half = width.startswith("never") == (one.half is None) and (never or is_rounded(width.split()[1], one.half, 3))
        same = (tenth is None) == (one.tenth is None) and (tenth is None or is_rounded(tenth, one.tenth, 3))
        off = is_rounded(error, one.error, 3) or abs(read_number(error) - one.error) < 1e-9
        if literal is not None:
            n = one.spectrum.grid
            raw = naive.reconstruct(naive.one_hot(n, 0), one.spectrum.weights) - naive.one_hot(n, 0)
            same = same and abs(np.linalg.norm(raw) - read_number(literal)) <= 1e-3
        return plain and half and same and off and (literal is None) == (one.spectrum.estimator != "lattice")

    return any(map(is_of, every))


def say_bare(every, name, above, lag):
    def is_of(one):
        k = naive_kernel(one.spectrum)
        if above == "first falls below a half at lag":
            return int(lag) < len(k) and k[int(lag)] < 0.5 and k[: int(lag)].min() >= 0.5
        return int(lag) == len(k) - 1 and k.min() >= 0.5

    named = [one for one in every if one.spectrum.encoding.name == name.split()[0]]
    return any(is_of(one) for one in named if is_ladder(one))


def naive_kernel(spectrum):
    found = spectrum.encoding.frequencies()
    k = np.array([naive.kernel(found.values, found.masses, tau) for tau in range(spectrum.grid)])
    return k / k[0]


BLUR_LAWS = {
    r"Exact: through (.*) a single position comes back as it was\.": say_exact,
    r"(?:At bandwidth (\S+) )?(?:[aA] single position comes back elsewhere through (.*? away\)(?:(?:, | and ).*? "
    r"away\)| and \d+ more)*)(?:; )?)?(?:[aA] single position is blurred(?: ((?:to|so) .*?, peak \S+, through .*?)|"
    r", least ((?:to|so) .*?) through .*?, most to (.*?) through .*?))?"
    r"(?:; through (.*) it comes back exactly)?\.": say_come_back,
    rf".*: peak ({NUMBER})(?: ([\d,]+) positions? away)?, (never at half of it|width {NUMBER})(?: \(({NUMBER}) at a "
    rf"tenth\))?, error ({NUMBER})(?:; (?:literal Eq\. 22|its weights as multipliers): ({NUMBER}))?": say_position,
    r"kernel: (.*) without a window: k\(tau\)/k\(0\) (.*?) (\d+)": say_bare,
    r"(?:error|width|kernel): .*(?:as in the paper|follows the bandwidth|--window-free).*": lambda _: True,
    r"multipliers: .*": lambda every: any(one.spectrum.estimator == "lattice" for one in every),
}
#: Encodings with frequencies whose kernel at 0 is not 0.
LADDERS = ["sinusoidal:d=2", "sinusoidal:d=7", "sinusoidal:d=32,rho=50", "dft:d=2", "dft:d=9", "dft:d=16", "mtan:d=4"]
BESIDE = ["alibi:heads=2", "t5:heads=2", "dfstrans:d=8", "hybrid:of='dft:d=8'+'dft:d=8',mode=concat", "ramp:length=12"]


def is_ladder(one):
    return one.spectrum.encoding in map(read_encoding, LADDERS)


def draw_spectra(seed):
    draw = np.random.default_rng(seed)
    for _ in range(15):
        specs = draw.choice([*LADDERS, *BESIDE], int(draw.integers(1, 4)), replace=False)
        widths = draw.choice([1e-3, 0.25, 1.0, 4.0, 40.0, 1e4], int(draw.integers(1, 3)), replace=False)
        grid = draw.choice([None, None, 3, 16, 33])
        found = []
        for spec in map(str, specs):
            for width in widths.tolist():
                try:
                    spectrum = compute_spectrum(
                        read_encoding(spec), bandwidth=width, grid=None if grid is None else int(grid)
                    )
                    found.append(reconstruct_positions(spectrum, [1]))
                except (InputError, UndefinedError):
                    continue
        if found:
            yield found


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_algorithm_1_is_true(seed):
    for results in draw_spectra(seed):
        every = [Blurred(one.spectrum) for one in results]
        kernels = [naive_kernel(one.spectrum) if is_ladder(one) else None for one in results]
        answer = answer_reconstructions(results, kernels if any(k is not None for k in kernels) else None)
        hold(BLUR_LAWS, list_texts(answer, without=[note for one in results for note in one.spectrum.notes]), every)
        codes = {one.code for one in every}
        assert answer.verdict.code == next(c for c in ("peak-moved", "blurred", "exact") if c in codes)


# ----------------------------------------------------------------------------------- spectra


def read_shares(spectrum):
    """The weights, and what follows from them, as plain sums; of weights of both signs there is none."""
    g, omega = spectrum.weights, spectrum.omega
    positive = g[g > 0]
    return {
        "low": float(g[:10].sum()),
        "centroid": float((g * omega).sum()),
        "entropy": math.exp(-float((positive * np.log(positive)).sum())),
        "participation": 1 / float((g**2).sum()),
        "mean": None if spectrum.summary.mean_frequency is None else find_mean(spectrum.encoding),
    }


def find_mean(encoding):
    found = getattr(encoding, "encoding", encoding).frequencies()
    return float((found.values * found.masses).sum() / found.masses.sum())


def list_highest(spectrum):
    """The bins that tie for the largest weight."""
    return np.flatnonzero(spectrum.weights >= spectrum.weights.max() * (1 - 1e-9)).tolist()


def say_top(spectrum, bins, weight, each, note):
    top = list_highest(spectrum)
    named = [int(n) for n in re.findall(r"\d+", bins.partition(" more")[0])]
    assert is_rounded(weight, spectrum.weights.max(), 4)
    assert (each is not None) == (len(top) > 1)
    if note is not None:  # of a kernel that is cut off at 0, within one of its widths
        assert (spectrum.estimator, spectrum.boundary) == ("kde", "none")
        assert 0 < top[0] <= spectrum.bandwidth
        assert is_rounded(note, spectrum.weights[0], 4)
    return named == [top[0], top[-1]] if " to " in bins else named[: len(top)] == top[:3] or named == top


def say_verdict(spectrum, rad, places, of, blur, mean, what, highest, empty):
    shares, top = read_shares(spectrum), list_highest(spectrum)
    assert is_rounded(re.split(r" to |, | and ", rad)[0], spectrum.omega[top[0]], 4)
    assert int(of) == len(spectrum.omega)
    value = shares["mean"] if what == "mean frequency" else shares["centroid"]
    return is_rounded(mean, value, 4) and say_highest(spectrum, highest, empty)


def say_highest(spectrum, highest, empty):
    """No frequency lies above, but for the last digit that is written."""
    if highest is None:
        return True
    largest = float(spectrum.encoding.frequencies().values.max())
    return is_rounded(highest, largest, 4) and abs(100 * (1 - largest / math.pi) - float(empty)) <= 0.0501


def say_crowded(spectrum, first, bins, share, highest, empty):
    right = (int(first), int(bins)) == (10, len(spectrum.omega))
    return (
        right
        and abs(100 * read_shares(spectrum)["low"] - float(share)) <= 0.0501
        and say_highest(spectrum, highest, empty)
    )


def say_centroid(spectrum, bins, rad, blur):
    value = read_shares(spectrum)["centroid"]
    at = spectrum.bandwidth is None if blur is None else float(blur) == spectrum.bandwidth
    return (
        at and is_rounded(rad, value, 4) and abs(float(bins) * spectrum.omega[1] - value) <= 0.0051 * spectrum.omega[1]
    )


def say_effective(spectrum, entropy, of, participation, blur):
    shares = read_shares(spectrum)
    right = abs(float(entropy) - shares["entropy"]) <= 0.051 and int(of) == len(spectrum.omega)
    return right and abs(float(participation) - shares["participation"]) <= 0.051


def say_last(spectrum, where, below, weight):
    last = spectrum.log_weights[-1] / math.log(10)
    assert (where == "at pi") == (spectrum.grid % 2 == 0 and spectrum.estimator != "nudft")
    if below is not None:
        return spectrum.weights[-1] <= read_number(weight)
    if weight == "0":
        return spectrum.weights[-1] == 0 and spectrum.log_weights[-1] == -math.inf
    mantissa, _, power = weight.partition("e")
    return abs(math.log10(float(mantissa)) + int(power or 0) - last) < 0.05


def say_inside(spectrum, inside, total, between, edge, zero):
    values, points = spectrum.encoding.frequencies().values.tolist(), spectrum.encoding.default_grid
    below = [w for w in values if 0 < w < 2 * math.pi / points * (1 - 1e-12)]
    assert (between == "between 0 and") == (0.0 in values)
    return (int(inside), int(total), int(edge), int(zero or 0)) == (len(below), len(values), points, values.count(0.0))


def say_toeplitz(spectrum, share, what):
    of = spectrum.encoding
    size = spectrum.length if of.domain == "positions" else (spectrum.length + 1) // 2
    rows = read_codes(of, list_places(of, size))
    assert what == "lag"  # grids are left out
    return abs(100 * naive.toeplitz_share(rows / np.abs(rows).max()) - float(share)) <= 0.0501


def say_in_time(spectrum, width, unit, step, shortest, longest):
    """Bins in cycles of a unit, and the periods of the last and of the first."""
    seconds = float(read_duration(step))
    turns = {"cycles/day": 86400, "Hz": 1, "kHz": 1e-3}[unit] / seconds
    periods = [2 * math.pi * seconds / float(spectrum.omega[place]) for place in (-1, 1)]
    return is_rounded(width, spectrum.omega[1] / (2 * math.pi) * turns, 4) and all(
        is_rounded(text.split()[0], period / float(read_duration("1" + text.split()[1])), 4)
        for text, period in zip((shortest, longest), periods, strict=True)
    )


ABOVE = r"(?:; no frequency lies above (\S+) rad \((\S+) % of the axis\))?"
SPECTRUM_LAWS = {
    r"Blurred flat: .*; one position has no lag, which could tell more\.": lambda spectrum: spectrum.length == 1,
    r"(?:Flat|Blurred flat|Blurred): (?:(?!one position).)*": lambda spectrum: (
        spectrum.head_weights is not None or check(spectrum) is None
    ),
    r"Not a distribution \(negative weights sum to -(\S+)\): .*": lambda spectrum, mass: is_rounded(
        mass, -spectrum.weights[spectrum.weights < 0].sum(), 3
    ),
    rf"Crowded at the bottom: the first (\d+) of (\d+) frequencies hold (\S+) % of the weight{ABOVE}\.": say_crowded,
    r"Uneven: the largest weights? (?:is|are) at (.*?) rad \((bins? .*?) of (\d+)\)( at bandwidth \S+)?; "
    rf"(?=(?:mean frequency|centroid) (\S+) rad)(mean frequency|centroid) \S+ rad/position"
    rf"(?: at bandwidth \S+?)?{ABOVE}\.": say_verdict,
    r"At real positions the largest weights? (?:is|are) at (\S+).* rad/position\.": lambda spectrum, rad: is_rounded(
        rad, spectrum.omega[list_highest(spectrum)[0]], 4
    ),
    r"peak: (bins? [^(]*) \((\S+?)( each)?\)(?:; bin 0 has (\S+), half of its kernel lies below zero "
    r"\(--boundary reflect\))?": say_top,
    r"mean frequency: (\S+) rad/position": lambda spectrum, mean: is_rounded(mean, read_shares(spectrum)["mean"], 4),
    r"centroid: (\S+) bins, (\S+) rad/position(?: at bandwidth (\S+))?": say_centroid,
    r"effective bins: (\S+) of (\d+) \(entropy\), (\S+) \(participation\)(?: at bandwidth (\S+))?": say_effective,
    r"flatness: ([\d.e+-]+)(?: at bandwidth \S+)?": lambda spectrum, flat: (
        is_rounded(flat, find_flatness(spectrum), 2) or find_flatness(spectrum) < 1e-300
    ),
    r"(?:centroid|effective bins|flatness): - \(not a distribution\)": lambda spectrum: spectrum.form == "signed",
    r"frequencies: (\d+) of (\d+) (below|between 0 and) (?:the first DFT frequency )2 pi/(\d+)"
    r"(?: \((\d+) others? (?:is|are) 0, constant over positions\))?(?: \(Eq\. 16: .*\))?": say_inside,
    r"(at pi|at the last bin): (below )?(\S+)": say_last,
    r"in time: a bin is (\S+) (\S+) at a step of (\S+); periods from (\S+ \S+) to (\S+ \S+)": say_in_time,
    r"kernel: .*|averaged over: .*": lambda spectrum: spectrum.estimator == "lag-window",
    r"Toeplitz share: (\S+) % is a function of the (lag|offset) alone": say_toeplitz,
    r"negative mass: (\S+): more than the estimate can tell": lambda spectrum, mass: is_rounded(
        mass, -spectrum.weights[spectrum.weights < 0].sum(), 3
    ),
    r".*: not a distribution \(negative weights\), so no .*": lambda spectrum: spectrum.form == "signed",
}


def find_flatness(spectrum):
    n = spectrum.grid
    counts = [1 if k in (0, n / 2) else 2 for k in range(len(spectrum.weights))]
    density = spectrum.weights / counts if spectrum.estimator == "lattice" else spectrum.weights
    if density.min() <= 0:
        return 0.0
    return math.exp(float(np.log(density).mean()) - math.log(float(density.mean())))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_said_of_spectra_is_true(seed):
    draw = np.random.default_rng(seed)
    for encoding in list_encodings(seed):
        if encoding.shape is not None:
            continue
        for bandwidth in draw.choice([0.05, 0.5, 1.0, 4.0, 30.0, 1e6], 2, replace=False).tolist():
            grid, boundary = draw.choice([None, 3, 8, 41]), str(draw.choice(["none", "reflect"]))
            try:
                spectrum = compute_spectrum(
                    encoding, bandwidth=bandwidth, grid=None if grid is None else int(grid), boundary=boundary
                )
            except (InputError, UndefinedError):
                continue
            answer = answer_spectra([spectrum])
            hold(SPECTRUM_LAWS, list_texts(answer, without=[*encoding.all_notes, *spectrum.notes]), spectrum)


# ----------------------------------------------------------------------------------- titles of several spectra


def say_mean(spectra, what, value, blur):
    means = find_means(spectra, what)
    return (
        is_rounded(value, max(means))
        and max(means) - min(means) <= 0.05001 * max(means)
        and is_blur(spectra, what, blur)
    )


def say_range(spectra, what, low, lowest, high, highest, blur):
    means = find_means(spectra, what)
    ends = {name: means[place] for place, name in enumerate(name_spectra(spectra))}
    near = is_rounded(low, min(means)) and is_rounded(high, max(means))
    named = all(
        any(name.startswith(end) and is_rounded(told, value) for name, value in ends.items())
        for end, told in ((lowest, low), (highest, high))
    )
    return near and named and max(means) - min(means) > 0.04999 * max(means) and is_blur(spectra, what, blur)


def find_means(spectra, what):
    """Of one measure for all: the frequencies' own mean only where all are known."""
    shares = [read_shares(one) for one in spectra]
    assert (what == "mean frequency") == all(one["mean"] is not None for one in shares)
    return [one["mean" if what == "mean frequency" else "centroid"] for one in shares]


def is_blur(spectra, what, blur):
    widths = {one.bandwidth for one in spectra}
    if what == "mean frequency" or widths == {None}:
        return blur == ""
    return blur == (f" at bandwidth {widths.pop():g}" if len(widths) == 1 else ", each at its bandwidth")


TITLES = {
    r"Not a distribution \(negative weights\), so without a mean frequency: (.*)": lambda spectra, names: (
        sum(one.form == "signed" for one in spectra) >= len(re.split(", | and ", names)) > 0
    ),
    r"The weights depend on the bandwidth that is chosen": lambda spectra: any(
        np.abs(one.weights - spectra[0].weights).max() > 1e-12 for one in spectra
    ),
    r"The weights are the same at each bandwidth": lambda spectra: all(
        np.abs(one.weights - spectra[0].weights).max() < 1e-9 for one in spectra
    ),
    rf"The (mean frequency|centroid) of all is about ({NUMBER}) rad per position(.*)": say_mean,
    rf"The (mean frequency|centroid) runs from ({NUMBER}) \((.*?)\) to ({NUMBER}) rad per position "
    r"\((.*?)\)(.*)": say_range,
}


@pytest.mark.parametrize("seed", range(6))
def test_what_a_title_says_of_several_spectra_is_true(seed):
    draw = np.random.default_rng(seed)
    known = [one for one in list_encodings(seed) if one.shape is None]
    for _ in range(12):
        chosen = draw.choice(len(known), int(draw.integers(1, 4)), replace=False)
        widths = draw.choice([0.25, 1.0, 4.0, 50.0], 2 if len(chosen) == 1 else 1, replace=False).tolist()
        spectra = []
        for place in chosen:
            try:
                spectra += [compute_spectrum(known[place], bandwidth=width, grid=24) for width in widths]
            except (InputError, UndefinedError):
                continue
        if len(spectra) > 1:
            hold(TITLES, [entitle_spectra(spectra)], spectra)


def test_what_is_flat_at_every_bandwidth_is_not_said_to_depend_on_it():
    swept = [compute_spectrum(read_encoding("one-hot:d=16"), bandwidth=width) for width in (1.0, 4.0)]
    assert entitle_spectra(swept) == "The weights are the same at each bandwidth"
