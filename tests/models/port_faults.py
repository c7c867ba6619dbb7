"""Ways in which ports go wrong, each planted into configurations that are drawn by rule.

A fault makes side B of a comparison from the configuration on side A: another configuration, a dump of
frequencies, or a cache of cosines and sines. What it makes is written out here, from the frequencies that the
configuration has; `named` is what the answer must say.
"""

import copy
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from pe_spectra.models.stacks import turn_layer
from pe_spectra.models.stated.configuration import read_configuration

#: Rows of caches.
ROWS = 1024
#: The row from which on some of them are wrong.
STRAYED = 700


@dataclass(frozen=True)
class Model:
    """A configuration, and what its first type of layers turns by."""

    config: dict[str, Any]

    @property
    def rotation(self):
        stated = read_configuration(copy.deepcopy(self.config), "config.json")
        return turn_layer(stated, stated.layers[0], self.served)

    @property
    def served(self):
        return self.config.get("max_position_embeddings")

    @property
    def frequencies(self):
        return self.rotation.frequencies

    @property
    def ladder(self):
        """The frequencies before scaling."""
        width = self.rotation.rotary_dim
        return self.rotation.base ** -(np.arange(0, width, 2) / width)

    def change(self, block=None, **keys):
        """The same with other keys, those of `block` in rope_scaling; None deletes one."""
        changed = copy.deepcopy(self.config)
        for target, values in ((changed, keys), (changed.get("rope_scaling") or {}, block or {})):
            for key, value in values.items():
                target.pop(key, None)
                if value is not None:
                    target[key] = value
        return changed


# ----------------------------------------------------------------------------------- configurations


def draw_plain(rng, **keys):
    """A model of the class of Llama without scaling, of a width that its heads do not give."""
    head, heads = int(rng.choice([64, 96, 128])), int(rng.choice([8, 16, 32]))
    base, length = float(rng.choice([2e4, 5e5, 1e6, 5e6])), int(rng.choice([8192, 16384, 32768]))
    return Model(
        {
            "model_type": "llama",
            "hidden_size": 48 * heads,
            "num_attention_heads": heads,
            "head_dim": head,
            "rope_theta": base,
            "max_position_embeddings": length,
            **keys,
        }
    )


def _scale(rng, kind, **keys):
    model = draw_plain(rng)
    return Model({**model.config, "rope_scaling": {"rope_type": kind, "factor": float(rng.choice([4, 8, 16])), **keys}})


def draw_linear(rng):
    return _scale(rng, "linear")


def draw_llama3(rng):
    keys = {"low_freq_factor": 1.0, "high_freq_factor": float(rng.choice([4, 8]))}
    found = _scale(rng, "llama3", original_max_position_embeddings=4096, **keys)
    return Model({**found.config, "max_position_embeddings": 65536})


def draw_yarn(rng):
    found = _scale(
        rng, "yarn", original_max_position_embeddings=int(rng.choice([2048, 4096])), beta_fast=24.0, beta_slow=2.0
    )
    factor = found.config["rope_scaling"]["factor"]
    length = int(factor * found.config["rope_scaling"]["original_max_position_embeddings"])
    return Model({**found.config, "max_position_embeddings": length})


def draw_scaled(rng):
    return [draw_linear, draw_llama3, draw_yarn][int(rng.integers(3))](rng)


def draw_longrope(rng):
    """A model of the class of Phi-3, served beyond its original length."""
    head, heads = int(rng.choice([64, 96])), 16
    short, long = np.sort(rng.uniform(1, 2, head // 2)), np.sort(rng.uniform(1, 60, head // 2))
    return Model(
        {
            "model_type": "phi3",
            "hidden_size": head * heads,
            "num_attention_heads": heads,
            "rope_theta": 10000.0,
            "max_position_embeddings": 131072,
            "original_max_position_embeddings": 4096,
            "rope_scaling": {"type": "longrope", "short_factor": short.tolist(), "long_factor": long.tolist()},
        }
    )


def draw_partial(rng):
    found = draw_plain(rng).config
    share = float(rng.choice([0.25, 0.5]))
    return Model(
        {
            **found,
            "model_type": "stablelm",
            "head_dim": None,
            "hidden_size": 128 * found["num_attention_heads"],
            "partial_rotary_factor": share,
        }
    )


def draw_proportional(rng):
    """A model of the class of Gemma 4, whose exponents are over the whole width though a share turns."""
    return Model(
        {
            "model_type": "gemma4_text",
            "hidden_size": 2048,
            "num_attention_heads": 16,
            "head_dim": 256,
            "global_head_dim": int(rng.choice([256, 512])),
            "max_position_embeddings": 65536,
            "num_hidden_layers": 1,
            "layer_types": ["full_attention"],
            "rope_parameters": {
                "full_attention": {
                    "rope_type": "proportional",
                    "rope_theta": float(rng.choice([1e5, 1e6])),
                    "partial_rotary_factor": 0.25,
                },
            },
        }
    )


def draw_layers(rng):
    """A model of the class of Gemma 3: layers that slide have a base of their own."""
    return Model(
        {
            "model_type": "gemma3_text",
            "hidden_size": 1024,
            "num_attention_heads": 4,
            "head_dim": int(rng.choice([128, 256])),
            "rope_theta": float(rng.choice([5e5, 1e6, 2e6])),
            "rope_local_base_freq": float(rng.choice([1e4, 2e4])),
            "max_position_embeddings": 32768,
        }
    )


def draw_sections(rng):
    """A model of the class of Qwen3-VL: positions in time, height and width."""
    width = 128
    return Model(
        {
            "model_type": "qwen3_vl_text",
            "hidden_size": 2048,
            "num_attention_heads": 16,
            "head_dim": width,
            "max_position_embeddings": 65536,
            "rope_theta": float(rng.choice([1e6, 5e6])),
            "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True},
        }
    )


def draw_scout(rng):
    """A model of the class of Llama 4, whose queries have a factor where layers are not turned."""
    return draw_plain(rng, model_type="llama4_text", attn_scale=float(rng.choice([0.1, 0.2])))


def draw_indexer(rng):
    """A model of the class of GLM-5, with an indexer beside attention."""
    return Model(
        {
            "model_type": "glm_moe_dsa",
            "hidden_size": 2048,
            "num_attention_heads": 16,
            "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128,
            "max_position_embeddings": 65536,
            "rope_theta": float(rng.choice([1e5, 1e6])),
            "indexer_rope_interleave": bool(rng.integers(2)),
        }
    )


# ----------------------------------------------------------------------------------- faults


def frequencies(values, dtype=np.float32):
    return {"inv_freq": np.asarray(values).astype(dtype)}


def cache(model, *, rows=None, positions=None, scale=1.0, sines=1.0, dtype=np.float32, repeat="half"):
    """Cosines and sines of the frequencies, each pair twice."""
    if positions is None:
        positions = np.arange(rows or model.served)[::1]
    angles = np.asarray(positions, dtype=float)[:, None] * model.frequencies
    parts = [scale * model.rotation.attention_scaling * wave for wave in (np.cos(angles), sines * np.sin(angles))]
    doubled = [np.tile(part, 2) if repeat == "half" else np.repeat(part, 2, axis=1) for part in parts]
    return {name: part.astype(dtype) for name, part in zip(("cos", "sin"), doubled, strict=True)}


def take_share(model, share):
    """The ladder of another share of the head."""
    pairs = int(model.rotation.head_dim * share) // 2
    return model.rotation.base ** -(np.arange(pairs) / pairs)


def spread(model, width, first=0):
    count = len(model.frequencies)
    return model.rotation.base ** (-2.0 * (np.arange(count) + first) / width)


def narrow_positions(dtype):
    return np.arange(ROWS).astype(dtype).astype(float)


def stray(model, positions):
    """A cache whose rows are those of their positions up to a row, and of others from there on."""
    rows = np.arange(ROWS)
    return cache(model, positions=np.where(rows < STRAYED, rows, positions))


def round_angles(model, dtype):
    angles = np.outer(np.arange(ROWS), model.frequencies).astype(dtype).astype(float)
    return {name: np.tile(wave(angles), 2).astype(np.float32) for name, wave in (("cos", np.cos), ("sin", np.sin))}


def clear_tail(parts):
    return {name: np.where(np.arange(ROWS)[:, None] < STRAYED, part, 0) for name, part in parts.items()}


def swap_columns(parts):
    return {"cos": parts["sin"], "sin": parts["cos"]}


#: Name of a fault -> how its configuration is drawn, what B is, and words that the verdict or a row must have.
FAULTS = {
    "scaling dropped": (draw_scaled, lambda m: frequencies(m.ladder), "scaling dropped"),
    "scaling dropped in a configuration": (draw_llama3, lambda m: m.change(rope_scaling=None), "scaling dropped"),
    "scaling twice": (draw_scaled, lambda m: frequencies(m.frequencies**2 / m.ladder), "scaling applied twice"),
    "scaling inverted": (draw_linear, lambda m: frequencies(m.ladder**2 / m.frequencies), "multiplies where"),
    "default base": (
        draw_plain,
        lambda m: frequencies(1e4 ** -(np.arange(len(m.ladder)) / len(m.ladder))),
        "default base",
    ),
    "default base in a configuration": (draw_scaled, lambda m: m.change(rope_theta=None), "default base"),
    "default base and no scaling": (
        draw_llama3,
        lambda m: frequencies(1e4 ** -(np.arange(len(m.ladder)) / len(m.ladder))),
        "default base 10000 and no scaling",
    ),
    "another base": (draw_plain, lambda m: m.change(rope_theta=m.config["rope_theta"] * 3), "another base"),
    "exponent i/d": (draw_plain, lambda m: frequencies(np.sqrt(m.ladder)), "exponents of B are half"),
    "exponent 4i/d": (draw_plain, lambda m: frequencies(m.ladder**2), "exponents of B are twice"),
    "exponents over the head": (
        draw_partial,
        lambda m: frequencies(spread(m, m.rotation.head_dim)),
        "over the width of the head",
    ),
    "exponents over what is turned": (
        draw_proportional,
        lambda m: frequencies(m.rotation.base ** -(np.arange(n := np.count_nonzero(m.frequencies)) / n)),
        "over the channels that are turned|scaling dropped",
    ),
    "ladder with both ends": (draw_plain, lambda m: frequencies(spread(m, 2 * len(m.ladder) - 2)), "ends at 1/base"),
    "ladder from the second pair": (
        draw_plain,
        lambda m: frequencies(spread(m, 2 * len(m.ladder), first=1)),
        "begins with the second pair",
    ),
    "frequencies in bfloat16": (
        draw_plain,
        lambda m: frequencies(m.frequencies, ml_dtypes.bfloat16),
        r"^[^\n]*rounded to bfloat16",
    ),
    "frequencies through bfloat16": (
        draw_scaled,
        lambda m: frequencies(m.frequencies.astype(ml_dtypes.bfloat16).astype(np.float32)),
        r"^[^\n]*rounded to bfloat16",
    ),
    "frequencies in float16": (
        draw_plain,
        lambda m: frequencies(m.frequencies, np.float16),
        r"^[^\n]*rounded to float16",
    ),
    "frequencies through float8": (
        draw_plain,
        lambda m: frequencies(m.frequencies.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)),
        r"^[^\n]*rounded to float8_e4m3fn",
    ),
    "degrees": (draw_plain, lambda m: frequencies(np.degrees(m.frequencies)), "degrees"),
    "turns": (draw_plain, lambda m: frequencies(m.frequencies / (2 * np.pi)), "turns"),
    "reverse order": (draw_scaled, lambda m: frequencies(m.frequencies[::-1]), "reverse order"),
    "slowest pair lost": (
        draw_scaled,
        lambda m: frequencies(m.frequencies[:-1]),
        "slowest pairs are lost|turned in A only",
    ),
    "fastest pair lost": (draw_plain, lambda m: frequencies(m.frequencies[1:]), "fastest pair is lost"),
    "slowest pairs at rest": (
        draw_plain,
        lambda m: frequencies(np.where(np.arange(len(m.ladder)) < len(m.ladder) * 3 // 4, m.frequencies, 0)),
        "not turned|at rest",
    ),
    "linear for llama3": (
        draw_llama3,
        lambda m: frequencies(m.ladder / m.config["rope_scaling"]["factor"]),
        " as linear",
    ),
    "raised base for linear": (
        draw_linear,
        lambda m: frequencies(
            (m.rotation.base * m.config["rope_scaling"]["factor"] ** (len(m.ladder) / (len(m.ladder) - 1)))
            ** -(np.arange(len(m.ladder)) / len(m.ladder))
        ),
        " as ntk",
    ),
    "linear for yarn in a configuration": (
        draw_yarn,
        lambda m: m.change({"rope_type": "linear"}),
        " as linear",
    ),
    "another factor": (draw_scaled, lambda m: m.change({"factor": 3.0}), "another factor of"),
    "betas at their defaults": (
        draw_yarn,
        lambda m: m.change({"beta_fast": None, "beta_slow": None}),
        "beta_fast and beta_slow at their defaults",
    ),
    "original length of yarn": (
        draw_yarn,
        lambda m: m.change({"original_max_position_embeddings": m.served}),
        "original length",
    ),
    "truncation": (draw_yarn, lambda m: m.change({"truncate": False}), "rounds the ends of the ramp"),
    "ends of llama3": (draw_llama3, lambda m: m.change({"high_freq_factor": 6.0}), "high_freq_factor"),
    "original length of llama3": (
        draw_llama3,
        lambda m: m.change({"original_max_position_embeddings": 16384}),
        "another scaling|original",
    ),
    "short list for long": (
        draw_longrope,
        lambda m: frequencies(m.ladder / np.array(m.config["rope_scaling"]["short_factor"])),
        "on the other side of the original",
    ),
    "lists dropped": (draw_longrope, lambda m: frequencies(m.ladder), "scaling dropped"),
    "share dropped": (draw_partial, lambda m: m.change(partial_rotary_factor=1.0), "turns the whole head"),
    "share twice": (
        draw_partial,
        lambda m: frequencies(take_share(m, m.config["partial_rotary_factor"] ** 2)),
        "taken twice",
    ),
    "width of the heads": (draw_plain, lambda m: m.change(head_dim=None), "ladder of another width"),
    "pairing of a share": (
        draw_proportional,
        lambda m: frequencies(m.frequencies[m.frequencies > 0]),
        r"\(i, i \+ \d+\) in A is \(i, i \+ \d+\) in B",
    ),
    "positions in bfloat16": (
        draw_plain,
        lambda m: cache(m, positions=narrow_positions(ml_dtypes.bfloat16)),
        "positions .*rounded to bfloat16",
    ),
    "positions in bfloat16, scaled": (
        draw_llama3,
        lambda m: cache(m, positions=narrow_positions(ml_dtypes.bfloat16)),
        "positions .*rounded to bfloat16",
    ),
    "opposite sines": (draw_plain, lambda m: cache(m, rows=ROWS, sines=-1.0), "opposite sign"),
    "cosines and sines swapped": (draw_plain, lambda m: swap_columns(cache(m, rows=ROWS)), "wrong order"),
    "from position 1": (draw_plain, lambda m: cache(m, positions=1 + np.arange(ROWS)), r"shifted by \+1"),
    "positions that begin again": (
        draw_llama3,
        lambda m: stray(m, np.arange(ROWS) % STRAYED),
        r"^Rows of B from 700 on repeat those from row 0 on: breaks from position 700 on \(phases are off by up to",
    ),
    "positions of padding": (
        draw_llama3,
        lambda m: stray(m, 0),
        r"^Rows of B from 700 on repeat row 0: breaks from position 700 on \(phases",
    ),
    "positions held": (
        draw_llama3,
        lambda m: stray(m, STRAYED - 1),
        r"^Rows of B from 700 on repeat row 699: breaks from position 700 on \(phases",
    ),
    "rows lost": (
        draw_llama3,
        lambda m: stray(m, np.arange(ROWS) + 50),
        "^Rows of B from 700 on have the phases of other rows, the first those of row 750: breaks from position 700 on",
    ),
    "tail not written": (
        draw_plain,
        lambda m: clear_tail(cache(m, rows=ROWS)),
        "one circle: row 700 is the first off that of row 0",
    ),
    "angles in float16": (draw_llama3, lambda m: round_angles(m, np.float16), "^Same frequencies; .*too few digits"),
    "angles in bfloat16": (
        draw_plain,
        lambda m: round_angles(m, ml_dtypes.bfloat16),
        "^The angles of B .*too few digits: breaks",
    ),
    "truncated cache": (draw_plain, lambda m: cache(m, rows=ROWS), "ends after 1,024 rows"),
    "truncated cache of a scaled model": (draw_yarn, lambda m: cache(m, rows=ROWS), "ends after 1,024 rows"),
    "attention scaling dropped": (
        draw_yarn,
        lambda m: cache(m, rows=ROWS, scale=1 / m.rotation.attention_scaling),
        "dropped in B",
    ),
    "attention scaling twice": (
        draw_yarn,
        lambda m: cache(m, rows=ROWS, scale=m.rotation.attention_scaling),
        "twice in B",
    ),
    "sections": (draw_sections, lambda m: m.change({"mrope_section": [24, 24, 16]}), "axes"),
    "sections in blocks": (draw_sections, lambda m: m.change({"mrope_interleaved": False}), "axes"),
    "indexer": (
        draw_indexer,
        lambda m: m.change(indexer_rope_interleave=not m.config["indexer_rope_interleave"]),
        "indexer",
    ),
    "dual chunk": (
        draw_plain,
        lambda m: m.change(dual_chunk_attention_config={"chunk_size": 1024, "local_size": 64}),
        "dual_chunk",
    ),
    "query scale": (
        draw_scout,
        lambda m: m.change(attn_temperature_tuning=False),
        "query_scale",
    ),
    "layers swapped": (
        draw_layers,
        lambda m: m.change(rope_theta=m.config["rope_local_base_freq"], rope_local_base_freq=m.config["rope_theta"]),
        "have what full_attention layers of A have",
    ),
    "base of all layers": (
        draw_layers,
        lambda m: m.change(rope_local_base_freq=m.config["rope_theta"]),
        "have what full_attention layers of A have",
    ),
}
#: Faults that are seen within the rows of the cache alone: it is served no further.
SHORT = (
    "positions in bfloat16",
    "positions in bfloat16, scaled",
    "positions that begin again",
    "positions of padding",
    "positions held",
    "rows lost",
    "tail not written",
    "angles in float16",
    "angles in bfloat16",
    "opposite sines",
    "cosines and sines swapped",
    "from position 1",
    "attention scaling dropped",
    "attention scaling twice",
)
