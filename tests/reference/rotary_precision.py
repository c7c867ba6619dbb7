"""Frequencies and attention factors of rotary encodings with mpmath, from the published formulas.

The numbers of a configuration are the doubles that every reader of JSON makes of them. Sources of the formulas:
Hugging Face transformers, modeling_rope_utils.py (linear, dynamic, yarn, llama3, longrope, proportional);
Peng et al. 2023, arXiv:2309.00071 (ntk, yarn-paper); Wang et al. 2024, arXiv:2403.00071 (resonance);
hrlics/CoPE (clipped). Nothing here imports pe_spectra.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mpmath import mp, mpf

from tests.reference.high_precision import Row, as_hex, settle

Options = Mapping[str, Any]
#: The frequencies, the attention factor, and how far the decisions were from a tie.
Answer = tuple[list[Any], Any, list[Any]]


def read_numbers(text: str) -> Any:
    """Read JSON; what is computed from its fractions has the digits that are in use."""
    return json.loads(text, parse_float=lambda digits: mpf(float(digits)))


def ladder(base: Any, width: int) -> list[Any]:
    return [mp.exp(-mpf(2 * i) / width * mp.log(base)) for i in range(width // 2)]


def enlarge(base: Any, width: int, growth: Any) -> Any:
    return base * mpf(growth) ** (mpf(width) / (width - 2))


def clip(value: Any) -> Any:
    return min(max(value, mpf(0)), mpf(1))


def blend(theta: Sequence[Any], factor: Any, ramp: Sequence[Any]) -> list[Any]:
    return [(1 - u) * t + u * t / mpf(factor) for t, u in zip(theta, ramp, strict=True)]


def turn_none(base: Any, width: int, given: Options) -> Answer:
    return ladder(base, width), mpf(1), []


def turn_linear(base: Any, width: int, given: Options) -> Answer:
    return [t / mpf(given["factor"]) for t in ladder(base, width)], mpf(1), []


def turn_ntk(base: Any, width: int, given: Options) -> Answer:
    return ladder(enlarge(base, width, given["factor"]), width), mpf(1), []


def turn_dynamic(base: Any, width: int, given: Options) -> Answer:
    factor, ratio = mpf(given["factor"]), mpf(max(given["served"], given["original"])) / given["original"]
    return ladder(enlarge(base, width, factor * ratio - (factor - 1)), width), mpf(1), []


def measure_yarn(factor: Any, mscale: Any = 1) -> Any:
    return mpf(mscale) / 10 * mp.log(mpf(factor)) + 1 if factor > 1 else mpf(1)


def attend_as_yarn(given: Options) -> Any:
    if given.get("attention_factor") is not None:
        return mpf(given["attention_factor"])
    first, second = given.get("mscale"), given.get("mscale_all_dim")
    if first and second:
        return measure_yarn(given["factor"], first) / measure_yarn(given["factor"], second)
    return measure_yarn(given["factor"])


def turn_yarn(base: Any, width: int, given: Options) -> Answer:
    def place(turns: Any) -> Any:
        return width * mp.log(given["original"] / (2 * mp.pi * mpf(turns))) / (2 * mp.log(base))

    low, high = place(given.get("beta_fast", 32)), place(given.get("beta_slow", 1))
    ties = []
    if given.get("truncate", True):
        ties = [low - mp.nint(low), high - mp.nint(high)]
        low, high = mp.floor(low), mp.ceil(high)
    low, high = max(low, mpf(0)), min(high, mpf(width - 1))
    if low == high:
        high += mpf("0.001")
    ramp = [clip((i - low) / (high - low)) for i in range(width // 2)]
    return blend(ladder(base, width), given["factor"], ramp), attend_as_yarn(given), ties


def ramp_by_turns(theta: Sequence[Any], original: int, low: Any, high: Any) -> list[Any]:
    """1 below `low` turns, 0 above `high`; with high at low or below a step at low."""
    turns = [original * t / (2 * mp.pi) for t in theta]
    if high <= low:
        return [mpf(0 if r >= low else 1) for r in turns]
    return [1 - clip((r - mpf(low)) / (mpf(high) - mpf(low))) for r in turns]


def turn_llama3(base: Any, width: int, given: Options) -> Answer:
    theta, ends = ladder(base, width), (given.get("low_freq_factor", 1), given.get("high_freq_factor", 4))
    ramp = ramp_by_turns(theta, given.get("original", 8192), *ends)
    return blend(theta, given.get("factor", 8), ramp), mpf(1), []


def turn_yarn_paper(base: Any, width: int, given: Options) -> Answer:
    theta, ends = ladder(base, width), (given.get("beta_slow", 1), given.get("beta_fast", 32))
    return blend(theta, given["factor"], ramp_by_turns(theta, given["original"], *ends)), attend_as_yarn(given), []


def turn_longrope(base: Any, width: int, given: Options) -> Answer:
    divisors = given["long_factor" if given["served"] > given["original"] else "short_factor"]
    theta = [t / mpf(by) for t, by in zip(ladder(base, width), divisors, strict=True)]
    if given.get("attention_factor") is not None:
        return theta, mpf(given["attention_factor"]), []
    factor = mpf(given["factor"])
    attention = mp.sqrt(1 + mp.log(factor) / mp.log(given["original"])) if factor > 1 else mpf(1)
    return theta, attention, []


def turn_proportional(base: Any, width: int, given: Options) -> Answer:
    turning = int(mp.floor(mpf(given.get("share", 1)) * width / 2))
    theta = [t / mpf(given.get("factor", 1)) for t in ladder(base, width)[:turning]]
    return theta + [mpf(0)] * (width // 2 - turning), mpf(1), []


def turn_resonance(base: Any, width: int, given: Options) -> Answer:
    waves = [2 * mp.pi / t for t in ladder(base, width)]
    ties = [wave - mp.floor(wave) - mpf(0.5) for wave in waves]
    return [2 * mp.pi / max(mpf(1), mp.nint(wave)) for wave in waves], mpf(1), [min(ties, key=abs)]


def turn_clipped(base: Any, width: int, given: Options) -> Answer:
    theta, n = ladder(base, width), min(given["clipped_pairs"], width // 2)
    fall = [(1 + mp.cospi(mpf(j) / (n - 1))) / 2 for j in range(n)] if n > 1 else [mpf(1)] * n
    if given.get("taper") == "hard":
        fall = [mpf(0)] * n
    kept = width // 2 - n
    return [*theta[:kept], *(t * by for t, by in zip(theta[kept:], fall, strict=True))], mpf(1), []


TURNS: Mapping[str, Callable[[Any, int, Options], Answer]] = {
    "none": turn_none,
    "linear": turn_linear,
    "ntk": turn_ntk,
    "dynamic": turn_dynamic,
    "yarn": turn_yarn,
    "yarn-paper": turn_yarn_paper,
    "llama3": turn_llama3,
    "longrope": turn_longrope,
    "proportional": turn_proportional,
    "resonance": turn_resonance,
    "clipped": turn_clipped,
}


def choose_pairs(theta: Sequence[Any], most: int = 8) -> list[int]:
    """Up to `most` pairs: the ends, and the places where the ratio of neighbours changes most."""
    last = len(theta) - 1
    if last < most:
        return list(range(last + 1))
    steps = [float(mp.log(theta[i] / theta[i + 1])) if theta[i + 1] else 0.0 for i in range(last)]
    bends = sorted(range(1, last), key=lambda i: -abs(steps[i] - steps[i - 1]))
    return sorted({0, 1, last // 2, last - 1, last, *bends[: most - 5]})


def answer_rows(compute: Callable[[], Answer], length: int | None) -> Row:
    """Pairs, their frequencies, the attention factor, how many pairs turn but not once in `length`, digits."""
    with mp.workdps(40):
        pairs = choose_pairs(compute()[0])

    def run() -> list[Any]:
        theta, attention, ties = compute()
        gaps = [] if length is None else [t * length / (2 * mp.pi) - 1 for t in theta if t]
        slow = [mpf(sum(1 for gap in gaps if gap < 0)), min(gaps, key=abs)] if gaps else [mpf(0)]
        return [attention, slow[0], *(theta[i] for i in pairs), *slow[1:], *ties]

    (attention, slow, *rest), digits = settle(run)
    theta = " ".join(as_hex(value) for value in rest[: len(pairs)])
    never = "" if length is None else str(int(slow))
    return [" ".join(map(str, pairs)), theta, as_hex(attention), never, str(digits)]


# ------------------------------------------------------------------------------ configurations

#: Keys of a block by the names of the formulas.
KEYS = {"original": "original_max_position_embeddings", "share": "partial_rotary_factor"}
KINDS = {"default": "none", "su": "longrope"}


def audit_row(text: str, layer: str, served: int | None) -> Row:
    """What transformers 5 computes of a configuration for one type of layer, at the length that is served."""

    def compute() -> Answer:
        config = read_numbers(text)
        block = config.get("rope_parameters") or config.get("rope_scaling") or {}
        block = block.get(layer, block)
        kind = block.get("rope_type", block.get("type", "default"))
        given = {key: block[KEYS.get(key, key)] for key in (*block, *KEYS) if KEYS.get(key, key) in block}
        length = config["max_position_embeddings"]
        width = config.get("global_head_dim", config["head_dim"]) if layer == "full_attention" else config["head_dim"]
        base = mpf(block.get("rope_theta", config.get("rope_theta", 10000)))
        original = config.get(KEYS["original"], given.get("original", length))
        given |= {"original": length if kind == "dynamic" else original, "served": served or length}
        if kind == "longrope":
            given.setdefault("factor", max(mpf(1), mpf(length) / original))
        if "alpha" in block:
            kind, given["factor"] = "ntk", block["alpha"]
        if kind != "proportional":
            width = int(mp.floor(width * mpf(config.get("partial_rotary_factor", given.get("share", 1)))))
        return TURNS[KINDS.get(kind, kind)](base, width, given)

    length = None if layer == "sliding_attention" else json.loads(text)["max_position_embeddings"]
    return [text, layer, "" if served is None else str(served), *answer_rows(compute, length)]


def rope_row(given: Options) -> Row:
    """The frequencies of the catalogue's rope with these parameters, which are doubles."""

    def compute() -> Answer:
        share, kind = given.get("share", 1), given.get("scaling", "none")
        width = given["d"] if kind == "proportional" else int(given["d"] * share)
        return TURNS[kind](mpf(given["base"]), width, given)

    return [json.dumps(given), *answer_rows(compute, None)]
