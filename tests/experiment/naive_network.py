"""The network written out: one window, one head, one pair of positions at a time, in plain NumPy and Python."""

from __future__ import annotations

import math

import numpy as np


def normalise(x, part):
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    return np.array([(value - mean) / math.sqrt(variance + 1e-5) for value in x]) * part["scale"] + part["shift"]


def apply_linear(x, part):
    return np.array([sum(x * column) for column in part["weight"].T]) + part["bias"]


def turn(x, angles):
    """Channels i and i + D/2 as a complex number, times exp(i angle)."""
    half = len(x) // 2
    turned = [complex(x[i], x[i + half]) * angles[i] for i in range(half)]
    return np.array([z.real for z in turned] + [z.imag for z in turned])


def attend(tokens, layer, arm, heads):
    length, width = len(tokens), len(tokens[0])
    size = width // heads
    projected = [apply_linear(token, layer["inward"]) for token in tokens]
    mixed = [np.zeros(width) for _ in tokens]
    for h in range(heads):
        mine = slice(h * size, (h + 1) * size)
        query, key, value = ([p[n * width : (n + 1) * width][mine] for p in projected] for n in range(3))
        if arm["entry"] == "rotation":
            angles = [
                [complex(c, s) for c, s in zip(row[: size // 2], row[size // 2 :], strict=True)]
                for row in arm["values"]
            ]
            query = [turn(q, a) for q, a in zip(query, angles, strict=True)]
            key = [turn(k, a) for k, a in zip(key, angles, strict=True)]
        for i in range(length):
            scores = []
            for j in range(length):
                seen = key[j] + (arm["values"][arm["index"][i, j]] if arm["entry"] == "key" else 0)
                score = float(np.dot(query[i], seen)) / math.sqrt(size)
                scores.append(score + (arm["values"][arm["index"][i, j]][h] if arm["entry"] == "score" else 0))
            top = max(scores)
            parts = [math.exp(score - top) for score in scores]
            shares = [part / sum(parts) for part in parts]
            for j in range(length):
                given = value[j]
                if arm["entry"] == "value":
                    given = given + arm["values"][arm["index"][i, j]]
                share = shares[j] + (arm["values"][arm["index"][i, j]][h] if arm["entry"] == "weight" else 0)
                mixed[i][mine] += share * given
    return [apply_linear(one, layer["outward"]) for one in mixed]


def apply_naive(weights, window, arm, heads):
    """The logit of one window (L, channels)."""
    tokens = [apply_linear(value, weights["input"]) for value in window]
    if arm["entry"] == "token":
        tokens = [token + vector for token, vector in zip(tokens, arm["values"], strict=True)]
    for layer in weights["layers"]:
        added = attend([normalise(token, layer["norm1"]) for token in tokens], layer, arm, heads)
        tokens = [token + one for token, one in zip(tokens, added, strict=True)]
        inner = [apply_linear(normalise(token, layer["norm2"]), layer["up"]) for token in tokens]
        added = [apply_linear(np.array([max(value, 0.0) for value in one]), layer["down"]) for one in inner]
        tokens = [token + one for token, one in zip(tokens, added, strict=True)]
    last = [normalise(token, weights["norm"]) for token in tokens]
    return float(apply_linear(sum(last) / len(last), weights["head"])[0])
