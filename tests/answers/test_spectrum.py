"""What spectrum answers: titles, and no share of weights of both signs."""

import json

import pytest

from pe_spectra import Sinusoidal, compute_spectrum, read_encoding
from pe_spectra.answers.captions import entitle_spectra
from pe_spectra.answers.spectra import answer_spectra
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
        answer = answer_spectra([spectrum_of_spec(f"{noisy_heads},head={head}")], None)
        assert answer.verdict.code == "no-shares"


def test_several_spectra_say_which_has_no_shares(previous_heads):
    spectra = [Sinusoidal(d=64), read_encoding(previous_heads)]
    answer = answer_spectra([compute_spectrum(one) for one in spectra], None)
    good, bad = (text for _, text in answer.facts)
    assert "mean " in good
    assert bad.startswith("not a distribution (negative weights sum to -")
    assert [one.summary.to_dict()["centroid"] is None for one in answer.body.spectra] == [False, True]


def test_a_share_a_little_above_1_is_all(noisy_heads):
    spectrum = spectrum_of_spec("tupe:head=0", length=128)
    assert 1.005 < spectrum.summary.low_bin_mass < 1 + MOST_NEGATIVE
    assert "hold 100.0 % of the weight" in answer_spectra([spectrum], None).verdict.text


# ----------------------------------------------------------------------------------- one and many


@pytest.mark.parametrize(("bandwidth", "says"), [("1", "of 1 bin spans"), ("2", "of 2 bins spans")])
def test_a_kernel_of_one_bin_is_no_plural(cli, bandwidth, says):
    encoding = read_encoding("sincos2d:d=4,height=2,width=2")
    assert says in cli(f"spectrum -e sincos2d:d=4,height=2,width=2 --bandwidth {bandwidth} --no-figure").out
    assert says in entitle_spectra([compute_spectrum(encoding, bandwidth=float(bandwidth), axis="vertical")])


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
