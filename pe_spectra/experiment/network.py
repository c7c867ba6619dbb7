"""The network of an experiment: a small transformer as pure functions of its weights, for JAX.

    x_0 = W_in u + b_in + e,   x' = x + Attention(LN(x)),   x'' = x' + W_2 relu(W_1 LN(x') + b_1) + b_2,
    logit = w . mean over positions of LN(x_last) + b

Every token sees every other. Where an encoding enters attention it does so in every layer, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pe_spectra.experiment.arms import Arm
from pe_spectra.experiment.design import Design

#: Added to the variance where a vector is normalised.
EPSILON = 1e-5
#: Weights by name: nested mappings, at their ends arrays.
Weights = dict[str, Any]


def draw_weights(design: Design, channels: int, arm: Arm, generator: np.random.Generator) -> Weights:
    """Draw the first weights: uniform within +-1/sqrt(inputs), as PyTorch begins a linear layer.

    The numbers of the arm come with them, under "arm"; nothing is drawn for it, so that all arms begin with the
    same network.

    >>> from pe_spectra.experiment.arms import build_arm
    >>> from pe_spectra.experiment.design import FULL
    >>> weights = draw_weights(FULL, 1, build_arm("dft", length=32), np.random.default_rng(0))
    >>> weights["input"]["weight"].shape, len(weights["layers"]), weights["arm"].shape
    ((1, 32), 2, (32, 32))
    """

    def draw_linear(inputs: int, outputs: int) -> Weights:
        bound = inputs**-0.5
        shapes = {"weight": (inputs, outputs), "bias": (outputs,)}
        return {name: generator.uniform(-bound, bound, shape) for name, shape in shapes.items()}

    width = design.width
    first = draw_linear(channels, width)
    layers = [
        {
            "inward": draw_linear(width, 3 * width),
            "outward": draw_linear(width, width),
            "up": draw_linear(width, design.hidden),
            "down": draw_linear(design.hidden, width),
            "norm1": _start_norm(width),
            "norm2": _start_norm(width),
        }
        for _ in range(design.layers)
    ]
    head = draw_linear(width, 1)
    return {"input": first, "layers": layers, "norm": _start_norm(width), "head": head, "arm": np.array(arm.values)}


def _start_norm(width: int) -> Weights:
    return {"scale": np.ones(width), "shift": np.zeros(width)}


def count_weights(weights: Weights, arm: Arm) -> int:
    """Count the numbers that training changes.

    >>> from pe_spectra.experiment.arms import build_arm
    >>> fixed, learned = build_arm("dft", length=3), build_arm("learned", length=3)
    >>> weights = {"head": {"bias": np.zeros(1)}, "layers": [], "arm": fixed.values}
    >>> count_weights(weights, fixed), count_weights(weights, learned)
    (1, 97)
    """

    def count(part: Any) -> int:
        if isinstance(part, np.ndarray):
            return part.size
        return sum(map(count, part.values() if isinstance(part, Mapping) else part))

    return count(weights) - (0 if arm.trained else weights["arm"].size)


def apply_network(weights: Weights, windows: Any, index: Any, *, entry: str, heads: int) -> Any:
    """Return the logit of label 1 for each window, shape (B,).

    Parameters
    ----------
    weights : as `draw_weights` gives them.
    windows : (B, L, channels).
    index : (L, L), which row of the arm's numbers belongs to a query and a key; for entries that have one.
    entry : where the arm enters, of `ENTRIES`.
    heads : of attention.
    """
    x = _apply_linear(weights["input"], windows)
    if entry == "token":
        x = x + weights["arm"]
    for layer in weights["layers"]:
        x = x + _attend(layer, _normalise(layer["norm1"], x), weights["arm"], index, entry, heads)
        inner = _apply_linear(layer["up"], _normalise(layer["norm2"], x))
        x = x + _apply_linear(layer["down"], inner * (inner > 0))
    pooled = _normalise(weights["norm"], x).mean(axis=1)
    return _apply_linear(weights["head"], pooled)[:, 0]


def _apply_linear(part: Weights, x: Any) -> Any:
    return x @ part["weight"] + part["bias"]


def _normalise(part: Weights, x: Any) -> Any:
    import jax.numpy as jnp

    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / jnp.sqrt(variance + EPSILON) * part["scale"] + part["shift"]


def _attend(layer: Weights, x: Any, numbers: Any, index: Any, entry: str, heads: int) -> Any:
    """Attention of all heads over all positions, (B, L, width), with what an arm does to it."""
    import jax
    import jax.numpy as jnp

    batch, length, width = x.shape
    # queries, keys and values stand side by side, in each the columns of the heads
    parts = _apply_linear(layer["inward"], x).reshape(batch, length, 3, heads, width // heads)
    query, key, value = parts.transpose(2, 0, 3, 1, 4)
    if entry == "rotation":
        query, key = _turn_pairs(query, numbers), _turn_pairs(key, numbers)
    scores = query @ key.transpose(0, 1, 3, 2)
    if entry == "key":
        scores = scores + jnp.einsum("bhid,ijd->bhij", query, numbers[index])
    scores = scores * (width // heads) ** -0.5
    if entry == "score":
        scores = scores + numbers[index].transpose(2, 0, 1)
    shares = jax.nn.softmax(scores, axis=-1)
    if entry == "weight":
        shares = shares + numbers[index].transpose(2, 0, 1)
    mixed = shares @ value
    if entry == "value":
        mixed = mixed + jnp.einsum("bhij,ijd->bhid", shares, numbers[index])
    return _apply_linear(layer["outward"], mixed.transpose(0, 2, 1, 3).reshape(batch, length, width))


def _turn_pairs(x: Any, table: Any) -> Any:
    """Turn channels i and i + D/2 of queries or keys by the angle of their pair at each position."""
    import jax.numpy as jnp

    half = x.shape[-1] // 2
    cosine, sine = table[:, :half], table[:, half:]
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)
