"""Which configurations and rotary parameters are frozen: every scaling, half linear, half logarithmic draws.

Configurations of the linear half have short decimals (1.3), those of the logarithmic half doubles that are
written out in full.
"""

import json
import math
import random
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from mpmath import mp, mpf

WIDTHS = (4, 6, 10, 22, 26, 64, 74, 80, 96, 118, 128, 192, 256)
LAYERS = ("full_attention", "sliding_attention")
Config = tuple[str, str, int | None]


class Draw:
    """Numbers of a configuration, linearly as short decimals or logarithmically over their whole range."""

    def __init__(self, source: random.Random, is_linear: bool) -> None:
        self.source, self.is_linear = source, is_linear

    def real(self, low: float, high: float) -> float:
        if self.is_linear:
            return float(f"{self.source.uniform(low, high):.4g}")
        return 10 ** self.source.uniform(math.log10(low), math.log10(high))

    def whole(self, low: int, high: int) -> int:
        return int(self.real(low, high)) if not self.is_linear else self.source.randint(low, high)

    def base(self) -> float:
        return self.real(1.5, 2e6) if self.is_linear else self.real(1.0001, 1e200)

    def width(self) -> int:
        return self.source.choice(WIDTHS)


def write_json(config: Any) -> str:
    """JSON with every fraction in full; Python's own form is the shortest that is read back alike."""

    def spell(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spell(one) for key, one in value.items()}
        if isinstance(value, list):
            return [spell(one) for one in value]
        return f"@{Decimal(value)}@" if isinstance(value, float) and len(repr(value)) > 10 else value

    return json.dumps(spell(config)).replace('"@', "").replace('@"', "")


def build(model: str, width: int, base: float, length: int, **others: Any) -> dict[str, Any]:
    return {
        "model_type": model,
        "hidden_size": width,
        "num_attention_heads": 1,
        "head_dim": width,
        "max_position_embeddings": length,
        "rope_theta": base,
        **others,
    }


def name_original(given: dict[str, Any], draw: Draw, length: int) -> dict[str, Any]:
    return {**given, "original_max_position_embeddings": max(16, int(length / draw.real(1, 64)))}


def plain_configs(draw: Draw) -> Iterator[Config]:
    length = draw.whole(64, 1 << 22)
    yield write_json(build("llama", draw.width(), draw.base(), length)), "all", None
    share = draw.source.choice((0.25, 0.5, 0.75))
    config = build("stablelm", 8 * draw.source.randint(2, 32), draw.base(), length, partial_rotary_factor=share)
    yield write_json(config), "all", None
    block = {"rope_type": "linear", "factor": draw.real(0.002, 1e5)}
    yield write_json(build("llama", draw.width(), draw.base(), length, rope_scaling=block)), "all", None


def stretched_configs(draw: Draw) -> Iterator[Config]:
    """dynamic within and beyond its length, and alpha, which is ntk."""
    length, factor = draw.whole(64, 1 << 20), draw.real(1, 100)
    block = {"rope_type": "dynamic", "factor": factor, "rope_theta": draw.base()}
    config = build("llama", draw.width(), 1.0, length, rope_parameters=block)
    del config["rope_theta"]
    yield write_json(config), "all", draw.source.randint(2, length)
    yield write_json(config), "all", int(length * draw.real(1, 900))
    block = {"rope_type": "dynamic", "alpha": draw.real(1.5, 5000), "factor": 1.0}
    yield write_json(build("hunyuan_v1_dense", draw.width(), draw.base(), length, rope_scaling=block)), "all", None


def yarn_configs(draw: Draw) -> Iterator[Config]:
    length = draw.whole(256, 1 << 22)
    block = name_original({"rope_type": "yarn", "factor": draw.real(1, 100)}, draw, length)
    yield write_json(build("llama", draw.width(), draw.base(), length, rope_scaling=block)), "all", None
    betas = {"beta_fast": draw.real(8, 300), "beta_slow": draw.real(0.01, 6)}
    attention = {"attention_factor": draw.real(0.1, 3)} if draw.source.random() < 0.3 else {}
    block |= {**betas, **attention, "factor": draw.real(0.5, 4000)}
    yield write_json(build("qwen3", draw.width(), draw.base(), length, rope_scaling=block)), "all", None
    yield (
        write_json(build("qwen3", draw.width(), draw.base(), length, rope_scaling={**block, "truncate": False})),
        "all",
        None,
    )
    scales = {"mscale": draw.real(0.01, 4), "mscale_all_dim": draw.real(0.01, 4)}
    block = {key: value for key, value in block.items() if key != "attention_factor"}
    yield write_json(build("llama", draw.width(), draw.base(), length, rope_scaling={**block, **scales})), "all", None


def yarn_ties() -> Iterator[Config]:
    """Bases within two units in the last place of one whose ramp ends at a whole pair."""
    for width, original, beta, index in (
        *((128, 4096, 32.0, 24), (128, 4096, 1.0, 46), (64, 8192, 1.0, 20), (64, 32768, 32.0, 11)),
        *((128, 2048, 7.5, 30), (80, 131072, 0.25, 33), (6, 512, 1.0, 1), (256, 100, 1.0, 100)),
        *((128, 4096, 32.0, 63), (128, 1000003, 1.0, 127)),
    ):
        with mp.workdps(60):
            base = float((original / (2 * mp.pi * mpf(beta))) ** (mpf(width) / (2 * index)))
        below = above = base
        end = {"beta_fast": beta} if beta > 2 else {"beta_slow": beta}
        block = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": original, **end}
        for near in (
            base,
            *(below := math.nextafter(below, 0) for _ in "12"),
            *(above := math.nextafter(above, 1e9) for _ in "12"),
        ):
            yield write_json(build("llama", width, near, 8 * original, rope_scaling=block)), "all", None


def llama3_configs(draw: Draw) -> Iterator[Config]:
    length = draw.whole(256, 1 << 22)
    block = name_original({"rope_type": "llama3", "factor": draw.real(1, 64)}, draw, length)
    ends = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    yield write_json(build("llama", draw.width(), draw.base(), length, rope_scaling={**block, **ends})), "all", None
    ends = {"low_freq_factor": draw.real(0.01, 8), "high_freq_factor": draw.real(9, 500)}
    yield write_json(build("llama", draw.width(), draw.base(), length, rope_scaling={**block, **ends})), "all", None


def longrope_configs(draw: Draw) -> Iterator[Config]:
    width, original = draw.source.choice((4, 6, 10, 14, 22)), draw.whole(64, 1 << 17)
    lists = {name: [draw.real(0.5, 80) for _ in range(width // 2)] for name in ("short_factor", "long_factor")}
    block, length = {"rope_type": "longrope", **lists}, int(original * draw.real(1, 100))
    stated = {"original_max_position_embeddings": original}
    for served in (original, original + 1):
        yield write_json(build("phi3", width, draw.base(), length, rope_scaling=block, **stated)), "all", served
    block |= {"attention_factor": draw.real(0.5, 3), **stated}
    yield write_json(build("llama", width, draw.base(), length, rope_parameters=block)), "all", None
    block = {key: value for key, value in block.items() if key != "attention_factor"} | {"factor": draw.real(0.5, 3000)}
    yield write_json(build("llama", width, draw.base(), length, rope_parameters=block)), "all", None


def layered_configs(draw: Draw) -> Iterator[Config]:
    """A base for each type of layer, and Gemma 4's pairs at rest."""
    length, types = draw.whole(64, 1 << 22), list(LAYERS)
    blocks = {
        LAYERS[0]: {"rope_type": "linear", "rope_theta": draw.base(), "factor": draw.real(1, 64)},
        LAYERS[1]: {"rope_type": "default", "rope_theta": draw.base()},
    }
    config = build("gemma3_text", draw.width(), 1.0, length, layer_types=types, rope_parameters=blocks)
    del config["rope_theta"]
    share = draw.source.choice((0.25, 0.3, 0.5, 1.0))
    blocks = {
        **blocks,
        LAYERS[0]: {"rope_type": "proportional", "rope_theta": draw.base(), "partial_rotary_factor": share},
    }
    wide = {"global_head_dim": 2 * draw.width(), "layer_types": types, "rope_parameters": blocks}
    other = build("gemma4_text", draw.width(), 1.0, length, **wide)
    del other["rope_theta"]
    for one in (config, other):
        for layer in LAYERS:
            yield write_json(one), layer, None


def audit_configs() -> Iterable[Config]:
    source = random.Random(20)
    for index in range(14):
        draw = Draw(source, index % 2 == 0)
        for kind in (plain_configs, stretched_configs, yarn_configs, llama3_configs, longrope_configs, layered_configs):
            yield from kind(draw)
    yield from yarn_ties()


def rope_cases() -> Iterable[dict[str, Any]]:
    """Parameters of the catalogue's rope, its own scalings included."""
    source = random.Random(21)
    for index in range(40):
        draw = Draw(source, index % 2 == 0)
        start = {"d": source.choice((*WIDTHS, 2 * source.randint(2, 600), 1002)), "base": draw.base()}
        original = draw.whole(2, 1 << 20)
        turns = {"factor": draw.real(1e-3, 1e6), "original": original}
        yield {**start, "scaling": "none"}
        yield {**start, "scaling": "ntk", "factor": draw.real(1e-3, 1e6)}
        yield {**start, "scaling": "dynamic", **turns, "served": draw.whole(original, 1 << 30)}
        yield {
            **start,
            "scaling": "yarn-paper",
            **turns,
            "beta_fast": draw.real(1, 1e3),
            "beta_slow": draw.real(0.01, 10),
        }
        yield {
            **start,
            "scaling": "llama3",
            **turns,
            "low_freq_factor": draw.real(0.1, 8),
            "high_freq_factor": draw.real(1, 50),
        }
        if start["base"] < 1e40:  # beyond, a wavelength has more digits than a double
            yield {**start, "scaling": "resonance"}
        pairs, taper = source.randint(0, start["d"] // 2 + 3), source.choice(("hann", "hann", "hard"))
        yield {**start, "scaling": "clipped", "clipped_pairs": pairs, "taper": taper}
        yield {
            **start,
            "scaling": "proportional",
            "share": source.choice((0.25, 0.5, 1.0)),
            "factor": draw.real(1e-3, 1e6),
        }
