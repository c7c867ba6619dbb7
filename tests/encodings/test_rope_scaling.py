"""Scalings of rotary encodings: against what transformers computes and against formulas in 50 digits."""

import math
from fractions import Fraction
from inspect import Parameter, signature

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.rope_ladders import compute_ladder, taper_slowest
from pe_spectra.encodings.rope_scaling import (
    SCALINGS,
    compute_longrope_attention,
    compute_xpos_decays,
    compute_yarn_attention,
    compute_yarn_range,
    scale_llama3,
    scale_yarn,
)
from pe_spectra.encodings.rotary import Rope
from tests.encodings.rotary_scalings import KEYS, NEEDED, build, check_digits, every_scaling, ladder, list_cases


def test_every_scaling_is_tested():
    assert set(NEEDED) == set(SCALINGS)


@pytest.mark.parametrize("name", SCALINGS)
def test_what_a_scaling_takes_is_what_its_function_does(name):
    scaling = SCALINGS[name]
    named = [one for one in signature(scaling.function).parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
    needed = tuple(one.name for one in named if one.default is Parameter.empty and one.name != "share")
    own = [one.name for one in named if one.name != "share"]
    assert list(scaling.keys[: len(own)]) == own
    assert scaling.needed == needed
    assert dict(scaling.defaults) == {one.name: one.default for one in named if one.default is not Parameter.empty}


# ----------------------------------------------------------------------------------- against transformers


def read_case(arguments):
    """The encoding that a frozen case of transformers 5.23 describes."""
    given = {KEYS.get(key, key): value for key, value in arguments["rope_parameters"].items()}
    kind, served, longest = arguments["rope_type"], arguments["seq_len"], arguments["max_position_embeddings"]
    if "truncate" in given:
        given["truncate"] = "yes" if given["truncate"] else "no"
    if kind == "dynamic":
        given |= {"original": longest, "served": served or longest}
    if kind == "longrope":
        given = {"factor": longest / given["original"]} | given | {"served": served}
    return Rope(d=arguments["head_dim"], scaling="none" if kind == "default" else kind, **given)


@pytest.mark.parametrize("case", list_cases("frequencies.json"), ids=lambda case: case["arguments"]["rope_type"])
def test_frequencies_of_transformers(case):
    encoding = read_case(case["arguments"])
    frequencies = encoding.frequencies()
    assert_allclose(frequencies.values, case["values"], rtol=1e-6, atol=0)  # computed there in float32
    assert frequencies.amplitude == pytest.approx(case["attention_factor"], rel=1e-15)


@pytest.mark.parametrize(
    "case", [c for c in list_cases("rotations.json") if "LlamaRotary" in c["function"] and "apply" not in c["function"]]
)
def test_cosines_and_sines_of_transformers(case):
    given = case["arguments"] | {"seq_len": None}
    encoding = read_case(given)
    cosine, sine = np.split(encoding.table(case["positions"]), 2, axis=1)
    # transformers holds each of them twice, once for each half of the channels
    assert_allclose(np.tile(cosine, 2), case["values"][0], rtol=0, atol=1e-4)
    assert_allclose(np.tile(sine, 2), case["values"][1], rtol=0, atol=1e-4)


def test_ntk_of_rotary_embedding_torch():
    tested = 0
    for case in list_cases("rotary_embedding_torch.json"):
        given = case["arguments"]
        if case["function"].endswith(".freqs") and "theta_rescale_factor" in given:
            encoding = Rope(d=given["dim"], scaling="ntk", factor=given["theta_rescale_factor"])
            assert_allclose(encoding.frequencies().values, case["values"], rtol=1e-6)
            tested += 1
    assert tested


def test_xpos_of_rotary_embedding_torch():
    (case,) = [c for c in list_cases("rotary_embedding_torch.json") if c["function"].endswith(".scale")][:1]
    decays = compute_xpos_decays(case["arguments"]["dim"])
    assert_allclose([float(zeta) for zeta in decays], case["values"], rtol=1e-6)


# ----------------------------------------------------------------------------------- formulas in 50 digits


def yarn(base, width, s, length, truncate):
    """The published code's arithmetic, term by term."""

    def find_index(turns):
        return width * mpmath.log(mpmath.mpf(length) / (turns * 2 * mpmath.pi)) / (2 * mpmath.log(base))

    low, high = find_index(32), find_index(1)
    if truncate:
        low, high = mpmath.floor(low), mpmath.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    found = []
    for i, theta in enumerate(ladder(base, width)):
        u = min(max((i - low) / (high - low), 0), 1)
        found.append(theta / s * u + theta * (1 - u))
    return found


def by_turns(thetas, s, length, low, high):
    """Eq. 18 to 20 of YaRN's paper; with low 1 and high 4 the map of Llama 3."""
    found = []
    for theta in thetas:
        gamma = min(max((length * theta / (2 * mpmath.pi) - low) / (high - low), 0), 1)
        found.append((1 - gamma) * theta / s + gamma * theta)
    return found


FORMULAS = {
    "none": lambda: ladder(10000, 128),
    "linear": lambda: [theta / 4 for theta in ladder(10000, 128)],
    "ntk": lambda: ladder(10000 * mpmath.mpf(4) ** (mpmath.mpf(128) / 126), 128),
    "dynamic": lambda: ladder(10000 * mpmath.mpf(5) ** (mpmath.mpf(128) / 126), 128),  # 4 * 2 - 3
    "yarn": lambda: yarn(10000, 128, 4, 4096, truncate=True),
    "yarn-paper": lambda: by_turns(ladder(10000, 128), 4, 4096, 1, 32),
    "llama3": lambda: by_turns(ladder(10000, 128), 8, 8192, 1, 4),
    "longrope": lambda: [theta / (i + 1) for i, theta in enumerate(ladder(10000, 128))],
    "proportional": lambda: ladder(10000, 128, 16) + [mpmath.mpf(0)] * 48,
    "xpos": lambda: ladder(10000, 128),
    "resonance": lambda: [2 * mpmath.pi / mpmath.nint(2 * mpmath.pi / theta) for theta in ladder(10000, 128)],
    "clipped": lambda: [
        theta * (1 if i < 44 else (1 + mpmath.cos(mpmath.pi * (i - 44) / 19)) / 2)
        for i, theta in enumerate(ladder(10000, 128))
    ],
}


@every_scaling
def test_frequencies_to_31_digits(scaling):
    with mpmath.workdps(60):
        expected = FORMULAS[scaling]()
        if scaling == "clipped":
            expected[-1] = mpmath.mpf(0)  # cos(pi) is not exactly -1 in 60 digits
        check_digits(build(scaling), expected)


@pytest.mark.parametrize("base", [1.5, 100.0, 5e5, 1e7])
def test_yarn_without_truncation_to_31_digits(base):
    with mpmath.workdps(60):
        expected = yarn(base, 64, 40, 4096, truncate=False)
        check_digits(build("yarn", d=64, base=base, factor=40, truncate="no"), expected)


def test_amplitudes_in_closed_form():
    assert build("yarn", factor=8).frequencies().amplitude == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)
    assert build("yarn-paper", factor=8).frequencies().amplitude == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)
    expected = math.sqrt(1 + math.log(4) / math.log(4096))
    assert build("longrope").frequencies().amplitude == pytest.approx(expected, rel=1e-15)
    for scaling in ("yarn", "yarn-paper", "longrope"):
        assert build(scaling, attention_factor=1.25).frequencies().amplitude == 1.25
    others = set(SCALINGS) - {"yarn", "yarn-paper", "longrope"}
    assert {build(scaling).frequencies().amplitude for scaling in others} == {1.0}


def test_attention_factors():
    assert compute_yarn_attention(1) == compute_yarn_attention(0.5) == 1
    assert compute_longrope_attention(1, 4096) == 1
    assert compute_yarn_attention(40, 1.0, 1.0) == 1  # DeepSeek: equal numbers cancel
    assert compute_yarn_attention(40, 0.707, None) == compute_yarn_attention(40)  # one alone has no effect
    assert compute_yarn_attention(40, 0.0, 1.0) == compute_yarn_attention(40)
    expected = (0.0707 * math.log(40) + 1) / (0.1 * math.log(40) + 1)
    assert float(compute_yarn_attention(40, 0.707, 1.0)) == pytest.approx(expected, rel=1e-15)


# ----------------------------------------------------------------------------------- known answers


@pytest.mark.parametrize(
    ("d", "base", "length", "expected"),
    [(128, 1e4, 4096, 18), (128, 5e5, 8192, 29), (128, 1e6, 32768, 24), (256, 1e4, 8192, 28)],
    ids=["Llama-2", "Llama-3 8K", "Qwen2.5 32K", "Gemma-7B"],
)
def test_pairs_that_never_complete_a_turn(d, base, length, expected):
    encoding = Rope(d=d, base=base)
    slow = encoding.frequencies().values * length < 2 * np.pi
    assert int(slow.sum()) == expected
    assert sum(encoding.turns(index) * length < 1 for index in range(d // 2)) == expected


def test_code_and_paper_of_yarn_differ():
    """Pair 36 of D = 128, base 1e4, L = 4096, s = 8."""

    def measure_slowing(scaling, **others):
        return Rope().frequencies().values[36] / build(scaling, factor=8, **others).frequencies().values[36]

    assert round(measure_slowing("yarn"), 2) == 2.17
    assert round(measure_slowing("yarn", truncate="no"), 2) == 2.21
    assert round(measure_slowing("yarn-paper"), 1) == 5.0


def test_ntk_divides_the_slowest_by_the_factor_and_keeps_the_fastest():
    plain, scaled = Rope().frequencies(), build("ntk", factor=8).frequencies()
    assert scaled.values[0] == plain.values[0] == 1
    assert plain.values[-1] / scaled.values[-1] == pytest.approx(8, rel=1e-15)


def test_dynamic_is_plain_up_to_the_original_length():
    assert_array_equal(build("dynamic", served=4096).frequencies().values, Rope().frequencies().values)
    assert_array_equal(build("dynamic", served=100).frequencies().values, Rope().frequencies().values)
    slower = [build("dynamic", served=length).frequencies().values[-1] for length in (4097, 8192, 16384)]
    assert slower == sorted(slower, reverse=True)
    # at l = s L the factor on the base is s**2 - s + 1, what vLLM has at every length
    full = build("dynamic", served=4 * 4096).frequencies().values[-1]
    assert Rope().frequencies().values[-1] / full == pytest.approx(13, rel=1e-14)


def test_llama3_keeps_29_blends_6_divides_29():
    plain = Rope(base=5e5).frequencies().values
    ratio = plain / Rope(base=5e5, scaling="llama3").frequencies().values
    kept, divided = np.isclose(ratio, 1, rtol=1e-14), np.isclose(ratio, 8, rtol=1e-14)
    assert (kept.sum(), (~kept & ~divided).sum(), divided.sum()) == (29, 6, 29)
    given = Rope(base=5e5, scaling="llama3", factor=8, original=8192)
    assert_array_equal(given.frequencies().values, Rope(base=5e5, scaling="llama3").frequencies().values)


def test_llama3_of_equal_ends_is_a_step():
    turns = [8192 * theta / (2 * math.pi) for theta in Rope(base=5e5).frequencies().values]
    found = scale_llama3(5e5, 128, low_freq_factor=2, high_freq_factor=2).frequencies
    for theta, plain, r in zip(found, compute_ladder(5e5, 128), turns, strict=True):
        assert float(plain / theta) == pytest.approx(1 if r >= 2 else 8)


def test_longrope_changes_at_the_original_length():
    short, long = (1.0,) * 64, (2.0,) * 64
    for served, divisor in ((4096, 1), (4097, 2)):
        encoding = build("longrope", served=served, short_factor=short, long_factor=long)
        assert_allclose(Rope().frequencies().values / encoding.frequencies().values, divisor, rtol=1e-15)
        assert encoding.frequencies().amplitude > 1  # whatever the length


def test_share_and_proportional_differ_in_the_exponent():
    """int(0.25 * 128) = 32 channels: b**(-2i/32) against b**(-2i/128)."""
    part, proportional = Rope(share=0.25).frequencies().values, build("proportional").frequencies().values
    assert len(part) == 16
    assert_allclose(part, [1e4 ** (-2 * i / 32) for i in range(16)], rtol=1e-14)
    assert len(proportional) == 64
    assert_allclose(proportional[:16], [1e4 ** (-2 * i / 128) for i in range(16)], rtol=1e-14)
    assert_array_equal(proportional[16:], 0)
    halved = build("proportional", factor=2).frequencies().values
    assert_array_equal(halved, proportional / 2)


def test_resonance_has_integer_wavelengths():
    encoding = build("resonance")
    assert encoding.turns(0) == Fraction(1, 6)
    for index, theta in enumerate(Rope().frequencies().values):
        assert encoding.turns(index) == Fraction(1, round(2 * math.pi / theta))
    assert SCALINGS["resonance"].function(10000, 128).attention_factor == 1


@pytest.mark.parametrize(("taper", "last"), [("hann", [1.0, 0.5, 0.0]), ("hard", [0.0, 0.0, 0.0])])
def test_tapers(taper, last):
    encoding = Rope(d=16, scaling="clipped", clipped_pairs=3, taper=taper)
    ratio = encoding.frequencies().values / Rope(d=16).frequencies().values
    assert_allclose(ratio, [1.0] * 5 + last, rtol=1e-15, atol=0)


def test_a_taper_is_never_longer_than_the_ladder():
    assert taper_slowest(compute_ladder(10000, 8), 0) == compute_ladder(10000, 8)
    assert taper_slowest(compute_ladder(10000, 8), 1) == compute_ladder(10000, 8)  # as published
    assert taper_slowest(compute_ladder(10000, 8), 99) == taper_slowest(compute_ladder(10000, 8), 4)
    assert taper_slowest(compute_ladder(10000, 8), 99, "hard") == (0, 0, 0, 0)


def test_the_range_of_yarn_is_clipped_as_published():
    assert compute_yarn_range(10000, 128, 4096) == (20, 46)
    low, high = compute_yarn_range(10000, 128, 4096, truncate=False)
    assert 20 < low < 21
    assert 45 < high < 46
    assert compute_yarn_range(100, 16, 10**7)[1] == 15  # D - 1, not D/2 - 1
    assert compute_yarn_range(10000, 16, 5)[0] == 0
    # a ramp without width is 0.001 wide: a step
    step = scale_yarn(10000, 128, factor=4, original=4096, beta_fast=8, beta_slow=8, truncate=False).frequencies
    ratios = [float(plain / theta) for plain, theta in zip(compute_ladder(10000, 128), step, strict=True)]
    assert_allclose(ratios, [1] * 31 + [4] * 33, rtol=1e-15)
    assert scale_yarn(10000, 16, factor=4, original=6, beta_fast=1, beta_slow=1).frequencies[0] == 1


#: Ends in the wrong order and factors below 1: transformers 5.23.0 warns at most, and computes this (float32) for
#: D = 64 and base 500000. Such files were refused here before, and some are published (CSM, Higgs Audio).
PLACES = (0, 8, 12, 13, 14, 15, 16, 31)
ODD = {
    "a published low end": (
        {"scaling": "llama3", "factor": 32, "original": 1024, "low_freq_factor": 0.125, "high_freq_factor": 0.5},
        (1, 0.037606031, 0.0072926651, 0.0048394212, 0.0032114461, 0.001290548, 0.00042955671, 9.4183065e-08),
    ),
    "llama3, low above high": (
        {"scaling": "llama3", "factor": 8, "original": 8192, "low_freq_factor": 4, "high_freq_factor": 1},
        (1, 0.037606031, 0.0072926651, 0.0048394212, 0.0032114461, 0.00026638995, 0.00017677668, 3.7673226e-07),
    ),
    "yarn, slow above fast": (
        {"scaling": "yarn", "factor": 4, "original": 8192, "beta_fast": 1, "beta_slow": 32},
        (0.25, 0.0094015077, 0.00338588, 0.0027653833, 0.0021791956, 0.0016744512, 0.0012626905, 3.0138581e-06),
    ),
    "the same, not truncated": (
        {"scaling": "yarn", "factor": 4, "original": 8192, "beta_fast": 1.5, "beta_slow": 32, "truncate": "no"},
        (0.25, 0.0094015077, 0.0039921599, 0.003135561, 0.0024035105, 0.0018091489, 0.0013426809, 3.0138581e-06),
    ),
    "yarn, slow above 32": (
        {"scaling": "yarn", "factor": 4, "original": 8192, "beta_fast": 128, "beta_slow": 64},
        (1, 0.0094015077, 0.0018231663, 0.0012098553, 0.00080286153, 0.0005327799, 0.00035355336, 7.5346452e-07),
    ),
    "yarn, factor below 1": (
        {"scaling": "yarn", "factor": 0.5, "original": 8192},
        (1, 0.037606031, 0.0097235534, 0.0069902753, 0.0049955831, 0.0035518659, 0.0025141572, 6.0277162e-06),
    ),
    "dynamic, factor below 1": (
        {"scaling": "dynamic", "factor": 0.5, "original": 32768, "served": 131072},
        (1, 0.029686794, 0.0051149917, 0.0032954549, 0.002123175, 0.0013679058, 0.00088130572, 1.2055432e-06),
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_what_nobody_means_is_computed_as_transformers_does(name):
    parameters, expected = ODD[name]
    found = Rope(d=64, base=500000, **parameters).frequencies()
    assert_allclose(found.values[list(PLACES)], expected, rtol=2e-6)
    amplitude = 0.1 * math.log(4) + 1 if parameters["scaling"] == "yarn" and parameters["factor"] == 4 else 1
    assert found.amplitude == pytest.approx(amplitude, rel=1e-15)


@pytest.mark.parametrize(("low", "high"), [(4, 1), (2, 2), (1e6, 1e-6), (1e-6, 1e-6)])
def test_without_a_ramp_there_is_a_step_at_the_low_end(low, high):
    """Both llama3's code and the paper's first case divide whatever turns less than that."""
    plain = ladder(5e5, 128)
    expected = [theta / 8 if 8192 * theta / (2 * math.pi) < low else theta for theta in plain]
    llama3 = Rope(base=5e5, scaling="llama3", low_freq_factor=low, high_freq_factor=high)
    paper = Rope(base=5e5, scaling="yarn-paper", factor=8, original=8192, beta_slow=low, beta_fast=high)
    for encoding in (llama3, paper):
        assert_allclose(encoding.frequencies().values, np.array(expected, dtype=float), rtol=1e-14)


def test_angles_beyond_a_turn_for_each_position_keep_their_digits():
    encoding = Rope(d=8, scaling="linear", factor=0.001)
    with mpmath.workdps(60):
        angle = mpmath.mpf(12345) / mpmath.mpf(0.001)
        expected = [float(mpmath.cos(angle)), float(mpmath.sin(angle))]
    row = encoding.table([12345])[0]
    assert_allclose([row[0], row[4]], expected, rtol=1e-14)
    assert_allclose(encoding.kernel([12345])[0, 0], row[:4].sum(), rtol=1e-12)
