"""What spectrum answers: titles, and no share of weights of both signs."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from pe_spectra import GivenArray, Sinusoidal, compute_spectrum, read_encoding
from pe_spectra.answers.captions import entitle_spectra, find_peaks, judge_spectrum
from pe_spectra.answers.spectra import answer_spectra
from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.features import FourierFeatures
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.spectrum.record import MOST_NEGATIVE

NULL = ("low_bin_mass", "centroid", "effective_bins_entropy", "effective_bins_participation", "flatness")


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


# ----------------------------------------------------------------------------------- spectrum


def test_no_share_is_printed_of_weights_of_both_signs(cli, previous_heads):
    done = cli(f"spectrum -e {previous_heads} --no-figure")
    first, facts = done.out.splitlines()[0], done.out.partition("\nk\t")[0]
    assert first.startswith("Not a distribution (negative weights sum to -")
    for name in ("centroid", "effective bins", "flatness"):
        assert f"{name}: - (not a distribution)" in facts
    assert "%" not in facts
    assert "rad/position" not in facts
    document = json.loads(cli(f"spectrum -e {previous_heads} --no-figure --json").out)
    assert (document["verdict"]["level"], document["verdict"]["code"]) == ("warning", "no-shares")
    assert [document["summary"][name] for name in NULL] == [None] * len(NULL)
    assert document["summary"]["negative_mass"] == pytest.approx(-sum(w for w in document["weights"] if w < 0))
    assert any("no low_bin_mass, centroid" in note for note in document["notes"])


def test_noise_for_buckets_is_not_flat(cli, noisy_heads):
    for head in range(8):
        answer = answer_spectra([spectrum_of_spec(f"{noisy_heads},head={head}")])
        assert answer.verdict.code == "no-shares"


def test_several_spectra_say_which_has_no_shares(previous_heads):
    spectra = [Sinusoidal(d=64), read_encoding(previous_heads)]
    answer = answer_spectra([compute_spectrum(one) for one in spectra])
    good, bad = (text for _, text in answer.facts)
    assert "centroid " in good  # the frequencies of the other are not known
    assert bad.startswith("not a distribution (negative weights sum to -")
    assert [one.summary.to_dict()["centroid"] is None for one in answer.body.spectra] == [False, True]


def test_a_share_a_little_above_1_is_all(noisy_heads):
    spectrum = spectrum_of_spec("tupe:head=0", length=128)
    assert 1.005 < spectrum.summary.low_bin_mass < 1 + MOST_NEGATIVE
    assert "hold 100.0 % of the weight" in answer_spectra([spectrum]).verdict.text


# ----------------------------------------------------------------------------------- files by name


def test_a_kernel_is_called_by_its_table(cli):
    done = cli("reconstruct -e 'learned:init=normal,d=4,length=9' dft:d=9 --s 1 --window-free --no-figure")
    assert "learned untrained 9 x 4 seed=0" in done.out + done.err
    assert "learned:" not in done.out + done.err


# ----------------------------------------------------------------------------------- work


def test_frequencies_are_computed_once(cli, monkeypatch):
    asked = []
    compute = Sinusoidal.frequencies
    monkeypatch.setattr(Sinusoidal, "frequencies", lambda self: asked.append(self) or compute(self))
    done = cli("spectrum --d 64 --no-figure")
    assert "below the first DFT frequency 2 pi/64" in done.out
    assert len(asked) == 1


# ----------------------------------------------------------------------------------- the last weight


@pytest.mark.parametrize("bandwidth", [0.2, 1.0, 4.0])
def test_at_real_positions_no_digit_of_rounding_is_printed(bandwidth):
    """Weights are right to 1e-13 of the largest there; by Eq. 15 each to its last digits."""
    times = GivenArray(np.arange(0, 60, 0.25))
    found = compute_spectrum(Sampled(encoding=Sinusoidal(d=8), times=times), bandwidth=bandwidth)
    last, limit = float(found.weights[-1]), 1e-13 * float(found.weights.max())
    said = dict(answer_spectra([found]).facts)["at the last bin"]
    assert said.startswith("below ") == (last < limit / 0.005)
    assert float(said.removeprefix("below ")) == pytest.approx(last if last > limit / 0.005 else last + limit, rel=0.1)


def test_a_weight_beyond_all_doubles_has_the_digits_that_are_known():
    said = [dict(answer_spectra([compute_spectrum(Sinusoidal(), bandwidth=b)]).facts)["at pi"] for b in (4, 1e-5, 1e-6)]
    assert said == ["5.2e-107", "8e-16532869786923", "10^-1.65329e+15"]


# ----------------------------------------------------------------------------------- means


def draw_ladders(seed):
    """Encodings with a list of frequencies, of every kind, odd and even, with zeros and beyond pi."""
    generator = np.random.default_rng(seed)
    for _ in range(12):
        d = int(generator.integers(1, 33)) * 2
        rho = float(10 ** generator.uniform(-1, 9))
        values = generator.choice([0.0, 1e-9, 0.3, 2.0, 9.0], d // 2)
        yield Sinusoidal(d=d, rho=rho)
        yield Sinusoidal(d=d + 1, rho=rho)
        yield read_encoding(f"rope:d={d},base={abs(rho) + 1}")
        yield read_encoding(f"dft:d={d + int(generator.integers(0, 2))}")
        yield read_encoding(f"dfstrans:d={d}")
        yield FourierFeatures(values=GivenArray(values[None]))
        yield Sampled(encoding=Sinusoidal(d=d, rho=rho), times=GivenArray(np.sort(generator.uniform(0, 50, 9))))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_frequency_is_that_of_the_frequencies(seed):
    for encoding in draw_ladders(seed):
        spectrum = compute_spectrum(encoding, bandwidth=float(10 ** np.random.default_rng(seed).uniform(-2, 2)))
        found = (encoding.encoding if isinstance(encoding, Sampled) else encoding).frequencies()
        columns = [w for w, mass in zip(found.values, found.masses, strict=True) for _ in range(round(2 * mass))]
        mean = math.fsum(columns) / len(columns)
        assert spectrum.summary.mean_frequency == pytest.approx(mean, rel=1e-13, abs=1e-300)
        assert min(columns) <= spectrum.summary.mean_frequency <= max(columns)
        said = f"mean frequency {mean:.4g} rad/position"
        facts = dict(answer_spectra([spectrum]).facts)
        assert facts["mean frequency"] == said.removeprefix("mean frequency ")
        blur = "" if spectrum.bandwidth is None else f" at bandwidth {spectrum.bandwidth:g}"
        assert facts["centroid"].endswith(f"{spectrum.summary.centroid:.4g} rad/position{blur}")
        assert said in answer_spectra([spectrum, spectrum]).facts[0][1]
        verdict = judge_spectrum(spectrum)
        assert "centroid" not in verdict.text
        assert (said in verdict.text) == (verdict.code == "uneven")


@pytest.mark.parametrize("name", [cls.name for cls in ENCODINGS if not hasattr(cls, "frequencies")])
def test_without_frequencies_a_centroid_says_at_which_bandwidth(name):
    if name == "learned":
        return
    for bandwidth in (0.5, 4.0):
        spectrum = compute_spectrum(read_encoding(name), bandwidth=bandwidth)
        answer = answer_spectra([spectrum, spectrum])
        assert spectrum.summary.mean_frequency is None
        text = " ".join(
            [judge_spectrum(spectrum).text, *(text for _, text in answer.facts), entitle_spectra([spectrum])]
        )
        assert "mean frequency" not in text.replace("a mean frequency mean", "")
        if spectrum.form != "signed":
            assert f"centroid {spectrum.summary.centroid:.4g} rad/position at bandwidth {bandwidth:g}" in text
            assert f"at bandwidth {bandwidth:g}" in dict(answer_spectra([spectrum]).facts)["centroid"]


@pytest.mark.parametrize("step", [0.25, 1.0, 2.0, 7.5])
def test_bins_of_a_centroid_are_those_of_its_axis(step):
    """The axis of real positions has bins of 2 pi/(N step)."""
    times = GivenArray(step * np.arange(40.0))
    spectrum = compute_spectrum(Sampled(encoding=Sinusoidal(d=8), times=times))
    bins, _, rest = dict(answer_spectra([spectrum]).facts)["centroid"].partition(" bins, ")
    radians = float(rest.partition(" ")[0])
    assert float(bins) * 2 * math.pi / (40 * step) == pytest.approx(radians, rel=0.01)
    assert spectrum.summary.mean_frequency == Sinusoidal(d=8).frequencies().mean


@pytest.mark.parametrize(
    ("spec", "peak", "fact"),
    [
        ("dfstrans:d=64", "s are at 0.09817 to 3.043 rad (bins 1 to 31 of 33);", "bins 1 to 31 (0.03175 each)"),
        ("dfstrans:d=6", "s are at 1.047 and 2.094 rad (bins 1 and 2 of 4);", "bins 1 and 2 (0.4 each)"),
        ("dfstrans:d=4", " is at 1.571 rad (bin 1 of 3);", "bin 1 (0.6667)"),
    ],
)
def test_weights_that_tie_are_all_the_largest(cli, spec, peak, fact):
    done = cli(f"spectrum -e {spec} --no-figure")
    assert done.out.startswith(f"Uneven: the largest weight{peak}")
    assert f"\npeak: {fact}\n" in done.out
    assert json.loads(cli(f"spectrum -e {spec} --no-figure --json").out)["summary"]["peak_bin"] == 1


def test_peaks_that_are_no_run_are_named_one_by_one():
    weights = np.array([1.0, 0.2, 1.0, 0.1, 1 - 1e-12])
    spectrum = SimpleNamespace(weights=weights, summary=SimpleNamespace(peak_bin=0))
    assert find_peaks(spectrum) == ([0, 2, 4], "bins 0, 2 and 4")
