"""The network of JAX against one written out in Python, and its gradients against finite differences."""

from functools import cache, partial
from importlib import import_module

import numpy as np
import pytest

from pe_spectra.experiment import network
from pe_spectra.experiment.arms import build_arm
from pe_spectra.experiment.design import Design
from pe_spectra.experiment.training import load_jax
from tests.experiment.naive_network import apply_naive

pytest.importorskip("jax", reason="the extra experiment is not installed")
pytest.importorskip("optax", reason="the extra experiment is not installed")
jax = load_jax()

SMALL = Design(width=16, heads=2, hidden=12, layers=2)
LENGTH, CHANNELS = 8, 2
#: One for each way to enter the network.
ARMS = ["none", "dft", "learned:std=1", "rope", "alibi", "t5", "fire", "erpe", "shaw", "shaw:side=value"]


def make_arm(spec):
    return build_arm(spec, length=LENGTH, width=SMALL.width, heads=SMALL.heads, seed=3)


def make_weights(spec, kind=np.float64):
    weights = network.draw_weights(SMALL, CHANNELS, make_arm(spec), np.random.default_rng(0))
    # norms that do nothing, as they begin, would hide mistakes; so would biases of attention that are nearly nothing
    generator = np.random.default_rng(1)
    shaken = jax.tree.map(lambda part: part + 0.3 * generator.normal(size=part.shape), weights)
    return jax.tree.map(lambda part: part.astype(kind), shaken)


def draw_values(count=3):
    return np.random.default_rng(2).normal(size=(count, LENGTH, CHANNELS))


@cache
def compile_network(function, entry):
    return jax.jit(partial(function, entry=entry, heads=SMALL.heads))


def apply(spec, weights, windows):
    arm = make_arm(spec)
    return np.asarray(compile_network(network.apply_network, arm.entry)(weights, windows, arm.index))


@pytest.fixture
def double():
    enable = jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
    with enable(True):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("spec", ARMS)
def test_single_precision_agrees_with_the_network_written_out(spec):
    arm, weights, windows = make_arm(spec), make_weights(spec, np.float32), draw_values().astype(np.float32)
    written = {"entry": arm.entry, "values": weights["arm"], "index": arm.index}
    expected = [apply_naive(weights, window, written, SMALL.heads) for window in windows]
    np.testing.assert_allclose(apply(spec, weights, windows), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("spec", ARMS)
def test_double_precision_agrees_to_its_last_digits(spec, double):
    arm, weights, windows = make_arm(spec), make_weights(spec), draw_values()
    written = {"entry": arm.entry, "values": weights["arm"], "index": arm.index}
    expected = [apply_naive(weights, window, written, SMALL.heads) for window in windows]
    found = apply(spec, weights, windows)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def list_parts(weights):
    return [("arm", weights["arm"]), ("head", weights["head"]["weight"]), ("input", weights["input"]["weight"])] + [
        (name, weights["layers"][0][name][part])
        for name, part in [("inward", "weight"), ("outward", "bias"), ("up", "weight"), ("norm1", "scale")]
    ]


@pytest.mark.parametrize(
    "spec", ["shaw", *(pytest.param(one, marks=pytest.mark.slow) for one in ARMS if one != "shaw")]
)
def test_gradients_agree_with_finite_differences(spec, double):
    arm, weights, windows = make_arm(spec), make_weights(spec), draw_values(2)
    labels = np.array([0.0, 1.0])

    def compute_loss(one):
        logits = network.apply_network(one, windows, arm.index, entry=arm.entry, heads=SMALL.heads)
        return (jax.numpy.logaddexp(0.0, logits) - labels * logits).mean()

    loss = jax.jit(compute_loss)
    # finished before the weights are changed in place below, for JAX may look at the arrays of NumPy themselves
    slopes = jax.block_until_ready(jax.jit(jax.grad(compute_loss))(weights))
    generator = np.random.default_rng(4)
    for place, (name, part) in enumerate(list_parts(weights)):
        if not part.size:
            continue
        direction = generator.normal(size=part.shape)
        step = 1e-5 * direction
        part += step
        above = float(loss(weights))
        part -= 2 * step
        below = float(loss(weights))
        part += step
        expected = float(np.sum(np.asarray(list_parts(slopes)[place][1]) * direction))
        assert (above - below) / 2e-5 == pytest.approx(expected, rel=1e-5, abs=1e-8), name
        assert name == "arm" or expected != 0


# ----------------------------------------------------------------------------------- an encoding that is not added


def tells_orders_apart(spec, weights=None):
    """Whether tokens in another order have another logit."""
    weights = make_weights(spec) if weights is None else weights
    windows = draw_values()
    shuffled = windows[:, np.random.default_rng(5).permutation(LENGTH)]
    first, second = apply(spec, weights, windows), apply(spec, weights, shuffled)
    return bool(np.abs(first - second).max() > 1e-6)


def test_without_an_encoding_the_order_of_tokens_is_unknown(double):
    assert not tells_orders_apart("none")


@pytest.mark.parametrize("spec", [spec for spec in ARMS if spec != "none"])
def test_with_each_encoding_the_order_of_tokens_matters(spec, double):
    assert tells_orders_apart(spec)


@pytest.mark.parametrize("spec", ["dft", "rope", "t5"])
def test_an_encoding_that_is_not_added_would_be_found(spec, double, monkeypatch):
    whole = network.apply_network

    def forget(*given, entry, heads):
        return whole(*given, entry="none", heads=heads)

    monkeypatch.setattr(network, "apply_network", forget)
    assert not tells_orders_apart(spec)


def test_all_arms_begin_with_the_same_network():
    first, second = (make_weights_plain(spec) for spec in ("none", "learned"))
    for one, other in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(one, other)


def make_weights_plain(spec):
    weights = network.draw_weights(SMALL, CHANNELS, make_arm(spec), np.random.default_rng(0))
    return {name: part for name, part in weights.items() if name != "arm"}


def test_first_weights_are_uniform_within_their_bound():
    weights = network.draw_weights(Design(width=64), 1, build_arm("none", length=8), np.random.default_rng(0))
    matrix = weights["layers"][0]["inward"]["weight"]
    assert matrix.shape == (64, 3 * 64)
    assert 0.99 / 8 < np.abs(matrix).max() <= 1 / 8
    assert matrix.std() == pytest.approx(1 / 8 / 3**0.5, rel=0.02)
