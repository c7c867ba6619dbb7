"""Ways in which a port may turn by other frequencies or phases, each planted into every configuration that has it.

A row of `FREQUENCIES` makes the frequencies that a faulty port has, one of `PHASES` its cache, one of `STATEMENTS` a
configuration that was copied wrongly. Each is compared with the configuration: frequencies as a list and as caches of
several lengths, with the faulty side as B and as A. `judge` tells what the answer is worth;
`python -m tests.models.fault_grid` prints how many are right, of each kind.
"""

import copy
import math
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache, cached_property

import ml_dtypes
import numpy as np

from pe_spectra.answers.differences import Setting
from pe_spectra.cli.two_sides import answer_sides
from pe_spectra.model_sources import Side
from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies
from pe_spectra.models.stated.configuration import read_configuration
from tests.models.port_faults import Model

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 8192}
LONG = {
    "short_factor": np.linspace(1, 2.5, 48).round(3).tolist(),
    "long_factor": np.linspace(1, 60, 48).round(2).tolist(),
}
#: One of every kind that models are published with.
CONFIGURATIONS = {
    "plain": {**LLAMA, "rope_theta": 10000.0},
    "high base": {**LLAMA, "rope_theta": 5e6},
    "head_dim": {**LLAMA, "hidden_size": 5120, "head_dim": 128, "rope_theta": 1e6},
    "linear": {**LLAMA, "rope_theta": 10000.0, "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    "linear, high base": {**LLAMA, "rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    "llama3": {
        **LLAMA,
        "rope_theta": 5e5,
        "max_position_embeddings": 131072,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    },
    "llama3, as long": {
        **LLAMA,
        "rope_theta": 5e5,
        "max_position_embeddings": 65536,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 65536,
        },
    },
    "yarn": {
        **LLAMA,
        "model_type": "qwen2",
        "rope_theta": 1e6,
        "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    },
    "yarn, low base": {
        **LLAMA,
        "rope_theta": 10000.0,
        "max_position_embeddings": 65536,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 16.0,
            "beta_fast": 24.0,
            "beta_slow": 2.0,
            "original_max_position_embeddings": 4096,
        },
    },
    "longrope": {
        "model_type": "phi3",
        "hidden_size": 3072,
        "num_attention_heads": 32,
        "rope_theta": 10000.0,
        "max_position_embeddings": 131072,
        "original_max_position_embeddings": 4096,
        "rope_scaling": {"type": "longrope", **LONG},
    },
    "partial": {
        "model_type": "stablelm",
        "hidden_size": 2048,
        "num_attention_heads": 16,
        "partial_rotary_factor": 0.25,
        "rope_theta": 10000.0,
        "max_position_embeddings": 4096,
    },
    "partial, high base": {
        "model_type": "glm4",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "head_dim": 128,
        "partial_rotary_factor": 0.5,
        "rope_theta": 1e6,
        "max_position_embeddings": 32768,
    },
    "partial, yarn": {
        "model_type": "glm4",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "head_dim": 128,
        "partial_rotary_factor": 0.5,
        "rope_theta": 5e5,
        "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    },
    "mrope": {
        "model_type": "qwen3_vl_text",
        "hidden_size": 2048,
        "num_attention_heads": 16,
        "head_dim": 128,
        "max_position_embeddings": 65536,
        "rope_theta": 5e6,
        "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True},
    },
}


@dataclass(frozen=True)
class Planted(Model):
    """A configuration with what faults are made of."""

    @cached_property
    def known(self):
        return self.rotation

    @property
    def w(self):
        return self.known.frequencies

    @property
    def base(self):
        return self.known.base

    @property
    def pairs(self):
        return len(self.w)

    @property
    def kind(self):
        return self.known.scaling

    @property
    def scaled(self):
        return self.kind not in (None, "none")

    @property
    def block(self):
        return self.config.get("rope_scaling") or {}

    @property
    def divisors(self):
        return self.plain / self.w

    def ladder_of(self, base=None, width=None, first=0, pairs=None):
        """base**(-2 (i + first)/width)."""
        return (base or self.base) ** (-2.0 * (np.arange(pairs or self.pairs) + first) / (width or 2 * self.pairs))

    @property
    def plain(self):
        return self.ladder_of()

    def read(self, block=None, **keys):
        """The frequencies of the same configuration with other keys."""
        return Planted(self.change(block, **keys)).w

    def scale(self, ladder):
        """Another ladder scaled as this one is: llama3 looks at its wavelengths, others at the index of a pair."""
        return by_llama3(self, ladder) if self.kind == "llama3" else ladder / self.divisors

    @property
    def ramp(self):
        """Of each pair the share that is divided, of a scaling that blends."""
        return (1 - 1 / self.divisors) / (1 - 1 / self.block["factor"])


def only(*kinds):
    return lambda m: m.kind in kinds


def always(m):
    return True


def scaled(m):
    return m.scaled


def unscaled(m):
    return not m.scaled


BLENDS = only("yarn", "llama3")
ORIGINAL = r"^the original length of {there} is|^another scaling \(.*original \d+"
TWICE = r"exponents of {there} are twice those of {here}"
HALF = r"exponents of {there} are (half of those of {here}|over the width of the head)"


def by_llama3(m, frequencies):
    turns = m.block["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    low, high = m.block["low_freq_factor"], m.block["high_freq_factor"]
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return frequencies * (smooth + (1 - smooth) / m.block["factor"])


def narrow(dtype):
    return lambda m: m.w.astype(dtype).astype(float)


def other_kind(name, **block):
    return lambda m: m.read({"type": None, "rope_type": name, **block})


#: Fault -> where it has a meaning, the frequencies that it gives, and what the sentence must say first.
FREQUENCIES = {
    "scaling dropped": (scaled, lambda m: m.plain, r"^scaling dropped in {there} \({kind}.* in {here}\)"),
    "scaling twice, by pairs": (
        lambda m: m.scaled and m.kind != "longrope",
        lambda m: m.w**2 / m.plain,
        r"^scaling applied twice in {there} \({kind}.* in {here}\)",
    ),
    "lists applied twice": (
        only("longrope"),
        lambda m: m.w**2 / m.plain,
        r"^scaling applied twice in {there} \({kind}.* in {here}\)",
    ),
    "llama3 applied again": (
        only("llama3"),
        lambda m: by_llama3(m, m.w),
        r"^scaling applied twice in {there} \({kind}.* in {here}\)",
    ),
    # what a scaling of longrope multiplies by is above pi rad a position, where a cache has whole turns less
    "scaling inverted": (
        lambda m: m.scaled and m.kind != "longrope",
        lambda m: m.plain**2 / m.w,
        "^{there} multiplies where {here} divides",
    ),
    "ramp reversed": (
        BLENDS,
        lambda m: m.plain * (m.ramp / 1 + (1 - m.ramp) / m.block["factor"]),
        "^{there} divides the pairs that {here} keeps",
    ),
    "all pairs divided": (BLENDS, lambda m: m.plain / m.block["factor"], "^{there} reads .* as linear"),
    "default base": (
        lambda m: m.base != 1e4,
        lambda m: m.read(rope_theta=1e4),
        r"^{there} has the default base 10000 \({base} in {here}\)",
    ),
    "default base, ramp kept": (
        lambda m: m.base != 1e4 and BLENDS(m),
        lambda m: m.ladder_of(1e4) / m.divisors,
        r"^{there} has the default base 10000 \({base} in {here}\)",
    ),
    "default base and no scaling": (
        lambda m: m.base != 1e4 and m.scaled,
        lambda m: m.ladder_of(1e4),
        "^{there} has the default base 10000 and no scaling",
    ),
    "tenfold base": (
        always,
        lambda m: m.read(rope_theta=10 * m.base),
        "^another base",
    ),
    "base of another family": (lambda m: m.base != 1e6, lambda m: m.read(rope_theta=1e6), "^another base"),
    "exponent i/D": (always, lambda m: np.sqrt(m.plain) / m.divisors, f"^the {HALF}"),
    "exponent 4i/D": (always, lambda m: m.plain**2 / m.divisors, f"^the {TWICE}"),
    "exponent i/D, all of it": (scaled, lambda m: m.read(rope_theta=math.sqrt(m.base)), f"^the {HALF}"),
    "exponent over the head": (
        lambda m: m.known.head_dim != m.known.rotary_dim,
        lambda m: m.scale(m.ladder_of(width=m.known.head_dim)),
        "^the exponents of {there} are over the width of the head",
    ),
    "exponent over D - 2": (
        always,
        lambda m: m.scale(m.ladder_of(width=2 * m.pairs - 2)),
        "^the ladder of {there} ends",
    ),
    "exponent from i = 1": (always, lambda m: m.scale(m.ladder_of(first=1)), "^the ladder of {there} begins"),
    "bfloat16": (always, narrow(ml_dtypes.bfloat16), "^the frequencies of {there} were rounded to bfloat16"),
    "float16": (always, narrow(np.float16), "^the frequencies of {there} were rounded to float16"),
    "float8_e4m3": (
        always,
        narrow(ml_dtypes.float8_e4m3fn),
        "^the frequencies of {there} were rounded to float8_e4m3fn",
    ),
    "float8_e5m2": (always, narrow(ml_dtypes.float8_e5m2), "^the frequencies of {there} were rounded to float8_e5m2"),
    "degrees": (always, lambda m: np.degrees(m.w), "^{there} is in degrees"),
    "turns": (always, lambda m: m.w / (2 * np.pi), "^{there} is in turns"),
    "2 pi": (always, lambda m: m.w * 2 * np.pi, "^{there} is in 2 pi times radians"),
    "reverse order": (always, lambda m: m.w[::-1], "^the pairs stand in reverse order"),
    "slowest lost": (always, lambda m: m.w[:-2], "^the slowest pairs are lost|turned in {here} only|{there} turns"),
    "fastest lost": (always, lambda m: m.w[1:], "^the fastest pair is lost in {there}"),
    "slowest at rest": (
        lambda m: not (m.w == 0).any(),
        lambda m: np.where(np.arange(m.pairs) < m.pairs * 3 // 4, m.w, 0),
        "^the slowest pairs of {there} are at rest",
    ),
    "half as many pairs": (
        always,
        lambda m: (
            Planted({**m.config, "partial_rotary_factor": None}).ladder_of(m.base, width=m.pairs, pairs=m.pairs // 2)
            if not m.scaled
            else None
        ),
        "^{there} has the ladder of another width|share|turn",
    ),
    "whole head": (
        lambda m: m.known.head_dim != m.known.rotary_dim,
        lambda m: m.read(partial_rotary_factor=1.0),
        "^{there} turns the whole head, {here} a share of it",
    ),
    "share twice": (
        lambda m: m.known.head_dim != m.known.rotary_dim and not m.scaled,
        lambda m: m.ladder_of(
            width=round(m.known.rotary_dim**2 / m.known.head_dim),
            pairs=round(m.known.rotary_dim**2 / m.known.head_dim) // 2,
        ),
        "^the share that is turned is taken twice in {there}",
    ),
    "width of the heads": (
        lambda m: "head_dim" in m.config and m.config["hidden_size"] // m.config["num_attention_heads"] != 128,
        lambda m: m.read(head_dim=None),
        "^{there} has the ladder of another width",
    ),
    "ntk for linear": (
        only("linear"),
        lambda m: m.ladder_of(m.base * m.block["factor"] ** (m.pairs / (m.pairs - 1))),
        "^{there} reads .* as ntk",
    ),
    "other factor": (
        lambda m: m.scaled and m.kind != "longrope",
        lambda m: m.read({"factor": 3.0}),
        "^another scaling|^another factor",
    ),
    "betas at their defaults": (
        lambda m: "beta_fast" in m.block,
        lambda m: m.read({"beta_fast": None, "beta_slow": None}),
        "^{there} has beta_fast and beta_slow at their defaults",
    ),
    "betas swapped": (
        only("yarn"),
        lambda m: m.read({"beta_fast": m.block.get("beta_slow", 1), "beta_slow": m.block.get("beta_fast", 32)}),
        "^beta_fast and beta_slow are swapped",
    ),
    "ends swapped": (
        only("llama3"),
        lambda m: m.read(
            {"low_freq_factor": m.block["high_freq_factor"], "high_freq_factor": m.block["low_freq_factor"]}
        ),
        "^low_freq_factor and high_freq_factor are swapped",
    ),
    "served length for the original": (
        lambda m: BLENDS(m) and m.served != m.block["original_max_position_embeddings"],
        lambda m: m.read({"original_max_position_embeddings": m.served}),
        ORIGINAL,
    ),
    "original length divided": (
        lambda m: BLENDS(m) and m.served == m.block["original_max_position_embeddings"],
        lambda m: m.read({"original_max_position_embeddings": round(m.served / m.block["factor"])}),
        ORIGINAL,
    ),
    "ramp not rounded": (
        only("yarn"),
        lambda m: m.read({"truncate": False}),
        "^{here} rounds the ends of the ramp of yarn to whole pairs, and {there} does not",
    ),
    "short list": (
        only("longrope"),
        lambda m: m.plain / np.array(LONG["short_factor"]),
        "^{there} takes the list .* on the other side of the original",
    ),
    "linear as llama3": (
        only("llama3"),
        lambda m: m.plain / m.block["factor"],
        "^{there} reads .* as linear",
    ),
    "llama3 as yarn": (only("llama3"), other_kind("yarn"), "^{there} reads .* as yarn"),
    "yarn as llama3": (
        only("yarn"),
        other_kind("llama3", low_freq_factor=1.0, high_freq_factor=4.0),
        "^{there} reads .* as llama3",
    ),
}


#: Fault -> where it has a meaning, the cache, and what the answer must say in its first sentence.
def waves(m, positions, *, scale=1.0, sign=1.0, shift=0.0, dtype=np.float32, layout=None, angles=None):
    """Cosines and sines of a port, as its module gives them."""
    if angles is None:
        angles = positions[:, None] * m.w
    parts = [
        scale * m.known.attention_scaling * wave for wave in (np.cos(angles + shift), sign * np.sin(angles + shift))
    ]
    doubled = [
        np.tile(part, 2) if (layout or m.known.layout) == "half" else np.repeat(part, 2, axis=1) for part in parts
    ]
    return tuple(part.astype(dtype) for part in doubled)


def attends(m):
    return m.known.attention_scaling != 1


def at_positions(dtype):
    return lambda m, rows: waves(m, np.arange(rows).astype(dtype).astype(float))


def at_angles(dtype):
    def make(m, rows):
        w = m.w.astype(np.float32)
        angles = np.outer(np.arange(rows).astype(np.float32), w).astype(dtype).astype(float)
        return waves(m, None, angles=angles)

    return make


def bf16_everywhere(m, rows):
    """A module that was cast to bfloat16: positions and frequencies, and their product."""
    w = m.w.astype(ml_dtypes.bfloat16).astype(np.float32)
    positions = np.arange(rows).astype(ml_dtypes.bfloat16).astype(np.float32)
    return waves(m, None, angles=np.outer(positions, w).astype(float))


def cast_to_bf16(m, rows):
    """The same with angles, cosines and sines in it, too."""
    w = m.w.astype(ml_dtypes.bfloat16).astype(np.float32)
    positions = np.arange(rows).astype(ml_dtypes.bfloat16).astype(np.float32)
    angles = np.outer(positions, w).astype(ml_dtypes.bfloat16).astype(float)
    return waves(m, None, angles=angles, dtype=ml_dtypes.bfloat16)


PHASES = {
    "positions in bfloat16": (
        always,
        at_positions(ml_dtypes.bfloat16),
        r"positions of {there} were rounded to bfloat16",
    ),
    "positions in bfloat16, cosines in it": (
        always,
        lambda m, rows: waves(m, np.arange(rows).astype(ml_dtypes.bfloat16).astype(float), dtype=ml_dtypes.bfloat16),
        r"positions of {there} were rounded to bfloat16",
    ),
    "positions and frequencies in bfloat16": (
        always,
        bf16_everywhere,
        r"positions of {there} were rounded to bfloat16|frequencies of {there} were rounded to bfloat16",
    ),
    "a module in bfloat16": (
        always,
        cast_to_bf16,
        r"positions of {there} were rounded to bfloat16|frequencies of {there} were rounded to bfloat16|too few digits",
    ),
    "positions in float16": (always, at_positions(np.float16), r"positions of {there} were rounded to float16"),
    "angles in bfloat16": (
        always,
        at_angles(ml_dtypes.bfloat16),
        "the angles of {there} were computed in too few digits",
    ),
    "opposite sines": (
        always,
        lambda m, rows: waves(m, np.arange(rows), sign=-1),
        "all sines of {there} have the opposite sign",
    ),
    "from position 1": (always, lambda m, rows: waves(m, np.arange(rows) + 1), "positions of B are shifted"),
    "interleaved": (
        always,
        lambda m, rows: waves(m, np.arange(rows), layout="half" if m.known.layout == "interleaved" else "interleaved"),
        "permute the rows",
    ),
    "attention scaling dropped": (
        attends,
        lambda m, rows: waves(m, np.arange(rows), scale=1 / m.known.attention_scaling),
        "dropped in {there}",
    ),
    "attention scaling twice": (
        attends,
        lambda m, rows: waves(m, np.arange(rows), scale=m.known.attention_scaling),
        "there twice in {there}",
    ),
    "attention scaling inverted": (
        attends,
        lambda m, rows: waves(m, np.arange(rows), scale=m.known.attention_scaling**-2),
        "inverted in {there}",
    ),
    "truncated cache": (always, lambda m, rows: waves(m, np.arange(rows)), "{there} ends after"),
}
#: Faults of phases that begin behind a number of rows.
BEHIND = {
    "positions in bfloat16": 257,
    "positions in bfloat16, cosines in it": 257,
    "positions and frequencies in bfloat16": 257,
    "a module in bfloat16": 257,
    "positions in float16": 2049,
    "angles in bfloat16": 257,
}

#: Fault -> where it has a meaning, the keys that are changed, and what the sentence must say first.
STATEMENTS = {
    "scaling dropped": (
        lambda m: m.scaled and m.kind != "longrope",
        lambda m: m.change(rope_scaling=None),
        r"^scaling dropped in {there} \({kind}.* in {here}\)",
    ),
    "base not stated": (
        lambda m: m.base != 1e4 and m.config["model_type"] in ("llama", "qwen2"),
        lambda m: m.change(rope_theta=None),
        r"^{there} has the default base 10000 \({base} in {here}\)",
    ),
    "base and scaling not stated": (
        lambda m: m.base != 1e4 and m.scaled,
        lambda m: m.change(rope_theta=None, rope_scaling=None),
        "^{there} has the default base 10000 and no scaling",
    ),
    "another base": (always, lambda m: m.change(rope_theta=3 * m.base), "^another base|^B has the default base 10000"),
    "another base and scaling": (
        only("linear", "llama3", "yarn"),
        lambda m: m.change({"factor": 2 * m.block["factor"]}, rope_theta=3 * m.base),
        "^another base.* and another scaling",
    ),
    "another factor": (
        only("linear", "llama3", "yarn"),
        lambda m: m.change({"factor": 2 * m.block["factor"]}),
        "^another scaling|^another factor",
    ),
    "linear": (
        only("llama3", "yarn"),
        lambda m: m.change({"rope_type": "linear"}),
        "^{there} reads .* as linear|^{here} reads .* linear x[0-9]+ as {kind}",
    ),
    "original length": (
        lambda m: BLENDS(m) and m.served != m.block["original_max_position_embeddings"],
        lambda m: m.change({"original_max_position_embeddings": m.served}),
        "^the original length of (A|B) is|^another scaling \\(.*original [0-9]+",
    ),
    "original length of one that is as long": (
        lambda m: BLENDS(m) and m.served == m.block["original_max_position_embeddings"],
        lambda m: m.change({"original_max_position_embeddings": round(m.served / m.block["factor"])}),
        "^the original length of (A|B) is",
    ),
    "ramp not rounded": (
        only("yarn"),
        lambda m: m.change({"truncate": False}),
        "^(A|B) rounds the ends of the ramp of yarn to whole pairs, and (A|B) does not",
    ),
    "betas": (
        lambda m: "beta_fast" in m.block,
        lambda m: m.change({"beta_fast": None, "beta_slow": None}),
        "^{there} has beta_fast and beta_slow at their defaults",
    ),
    "lists exchanged": (
        only("longrope"),
        lambda m: m.change({"short_factor": LONG["long_factor"], "long_factor": LONG["short_factor"]}),
        "^(A|B) takes the list .* on the other side of the original",
    ),
    "whole head": (
        lambda m: "partial_rotary_factor" in m.config,
        lambda m: m.change(partial_rotary_factor=1.0),
        "^{there} turns the whole head, {here} a share of it",
    ),
    "width of the heads": (
        lambda m: (
            "head_dim" in m.config and m.config["hidden_size"] // m.config["num_attention_heads"] != m.known.head_dim
        ),
        lambda m: m.change(head_dim=None),
        "ladder of another width",
    ),
    "sections": (
        lambda m: "mrope_section" in m.block,
        lambda m: m.change({"mrope_interleaved": False}),
        "turn by another axis",
    ),
}
#: Configurations that no list of frequencies shows, and faults by the width of the head, which none shows either.
UNTOLD = ("longrope", "yarn, low base")
OF_THE_HEAD = ("exponent over the head", "whole head", "share twice")
#: Names of all faults.
KINDS = tuple(dict.fromkeys((*FREQUENCIES, *PHASES, *STATEMENTS)))
#: Rows of caches.
LENGTHS = (512, 5000)


@dataclass(frozen=True)
class Case:
    kind: str
    configuration: str
    form: str
    order: str  # the letter of the faulty side

    def __str__(self):
        return f"{self.kind} | {self.configuration} | {self.form} | in {self.order}"


@cache
def plant(name):
    return Planted(copy.deepcopy(CONFIGURATIONS[name]))


def list_cases(lengths=LENGTHS):
    for configuration in CONFIGURATIONS:
        model = plant(configuration)
        for kind, (fits, make, _) in FREQUENCIES.items():
            if fits(model) and (made := make(model)) is not None and not same(made, model.w):
                caches = [f"cache {rows}" for rows in lengths if shows(made)]
                forms = ["list", *caches]
                yield from (Case(kind, configuration, form, order) for form in forms for order in "BA")
                if configuration not in UNTOLD and kind not in OF_THE_HEAD:
                    yield Case(kind, configuration, "two lists", "B")
        for kind, (fits, _, _) in PHASES.items():
            for rows in lengths if fits(model) else ():
                if BEHIND.get(kind, 0) < rows < model.served:
                    yield from (Case(kind, configuration, f"phases {rows}", order) for order in "BA")
        for kind, (fits, make, _) in STATEMENTS.items():
            if fits(model) and not same(Planted(make(model)).w, model.w, kind == "sections"):
                yield from (Case(kind, configuration, "configuration", order) for order in "BA")


def same(made, frequencies, told=False):
    return not told and len(made) == len(frequencies) and np.allclose(made, frequencies, rtol=1e-6, atol=0)


def shows(frequencies):
    """Whether a cache shows them: it has whole turns less from pi on, for which it is taken, too, where they rise."""
    return frequencies.max() <= math.pi and not (np.diff(frequencies)[frequencies[1:] > math.pi / 2] > 0).any()


def state(config, name):
    return Side(shown=name, configuration=read_configuration(copy.deepcopy(config), name), keys=config)


def answer(case):
    """The answer on a case; a refusal is its line."""
    model = plant(case.configuration)
    form, _, rows = case.form.partition(" ")
    rows, served = int(rows) if rows.isdigit() else 0, None
    sound = state(model.config, "sound.json")
    if form == "configuration":
        _, make, words = STATEMENTS[case.kind]
        faulty = state(make(model), "faulty.json")
    elif form == "phases":
        _, make, words = PHASES[case.kind]
        faulty = Side(shown="faulty.npz", dump=read_cache(*make(model, rows)))
        served = None if case.kind == "truncated cache" else rows
    else:
        _, make, words = FREQUENCIES[case.kind]
        made = make(model)
        if form == "two":
            sound = Side(shown="sound.npy", dump=read_inverse_frequencies(model.w.astype(np.float32)))
        if form in ("list", "two"):
            faulty = Side(shown="faulty.npy", dump=read_inverse_frequencies(made.astype(np.float32)))
        else:
            angles = np.arange(rows)[:, None] * made.astype(np.float32).astype(float)
            parts = [model.known.attention_scaling * np.tile(wave(angles), 2) for wave in (np.cos, np.sin)]
            faulty = Side(shown="faulty.npz", dump=read_cache(*(part.astype(np.float32) for part in parts)))
            served = rows
    # its lists go by the length
    served = served if model.kind != "longrope" else None
    there, here = case.order, "AB".replace(case.order, "")
    sides = {there: faulty, here: sound}
    found = answer_sides(["a", "b"], (), Setting(length=4096, served=served), lambda _, letter: sides[letter])
    base = re.escape(f"{model.base:.10g}")
    return found, words.format(there=there, here=here, kind=model.kind, base=base)


def judge(case):
    """What an answer is worth: right, wrong, same, or refused; and the sentence with the parts."""
    from pe_spectra.errors import PeSpectraError

    try:
        found, wanted = answer(case)
    except PeSpectraError as error:
        return "refused", str(error), ""
    text = found.verdict.text
    if found.verdict.code.startswith("same"):
        return "same", text, wanted
    # a part that differs beside the cause says how
    idle = [one for one in found.body.diff.differences if one.effect == "the scalings differ"]
    right = (
        re.search(wanted, text, re.IGNORECASE) and not idle and (" and another " in wanted) == (" and another " in text)
    )
    return "right" if right else "wrong", text, wanted


def main(*words):
    """Print the rate of every kind, and what was said of those that match all words."""
    counts, total = defaultdict(Counter), Counter()
    for case in list_cases():
        if not all(re.search(word, str(case)) for word in words):
            continue
        worth, said, wanted = judge(case)
        counts[case.kind + (" (stated)" if case.form == "configuration" else "")][worth] += 1
        total[worth] += 1
        if worth != "right":
            print(f"{worth}: {case}\n      {said}\n      wanted: {wanted}")
    for kind, found in counts.items():
        print(f"{found['right']:4d} of {found.total():4d}  {kind}  {dict(found)}")
    print(f"{total['right']} of {total.total()}: {total}")


if __name__ == "__main__":
    main(*sys.argv[1:])
