"""Training and judging: steps of AdamW as Optax makes them, one choice of the rate, and the same for every arm."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.experiment import streams, training, trial
from pe_spectra.experiment.arms import build_arm
from pe_spectra.experiment.design import FULL, QUICK, Design, Trial
from pe_spectra.experiment.network import apply_network, draw_weights
from pe_spectra.experiment.tasks import draw_windows
from pe_spectra.experiment.trial import run_trial
from tests.refusing import catch

pytest.importorskip("jax", reason="the extra experiment is not installed")
optax = pytest.importorskip("optax", reason="the extra experiment is not installed")
jax = training.load_jax()

SMALL = Design(
    width=16,
    heads=2,
    hidden=12,
    layers=1,
    windows=48,
    validation=32,
    test=32,
    passes=2,
    batch=16,
    rates=(1e-3, 1e-2),
    # strong enough to be seen in a few steps
    decay=0.3,
    clip=0.5,
)
LENGTH = 16


def draw(task="where", count=48, seed=0):
    return draw_windows(task, length=LENGTH, seed=seed, scale=6, noise=0.1, counts=(count, 32, 32))


def make_arm(spec):
    return build_arm(spec, length=LENGTH, width=16, heads=2)


def train_by_optax(windows, arm, design, rate, seed):
    """The same training with the optimiser of Optax on the weights as they are, one step after the other."""
    weights = draw_weights(design, 1, arm, streams.start_stream(seed, "weights"))
    weights = jax.tree.map(np.float32, weights)
    generator = streams.start_stream(seed, "batches")
    steps = design.passes * (len(windows.labels) // design.batch)
    schedule = optax.warmup_cosine_decay_schedule(0.0, rate, max(1, round(design.warmup * steps)), steps + 1)
    matrices = jax.tree.map(lambda part: part.ndim == 2, weights) | {"arm": False}
    optimiser = optax.chain(
        optax.clip_by_global_norm(design.clip),
        optax.adamw(lambda count: schedule(count + 1), weight_decay=design.decay, mask=matrices),
    )
    state, losses = optimiser.init(weights), []

    def compute_loss(one, values, labels):
        logits = apply_network(one, values, arm.index, entry=arm.entry, heads=design.heads)
        return optax.sigmoid_binary_cross_entropy(logits, labels).mean()

    @jax.jit
    def step(weights, state, values, labels):
        loss, slopes = jax.value_and_grad(compute_loss)(weights, values, labels)
        if not arm.trained:
            slopes["arm"] = 0 * slopes["arm"]
        change, state = optimiser.update(slopes, state, weights)
        return optax.apply_updates(weights, change), state, loss

    for _ in range(design.passes):
        order = generator.permutation(len(windows.labels))
        for first in range(0, len(order) - design.batch + 1, design.batch):
            batch = order[first : first + design.batch]
            weights, state, loss = step(weights, state, windows.values[batch], windows.labels[batch])
            losses.append(float(loss))
    return weights, losses


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["dft", "t5"])
def test_training_is_adamw_of_optax(spec):
    windows, arm = draw().training, make_arm(spec)
    weights, losses = training.train_network(windows, arm, SMALL, 3e-3, 7)
    expected, slow = train_by_optax(windows, arm, SMALL, 3e-3, 7)
    np.testing.assert_allclose(losses.ravel(), slow, rtol=1e-4)
    for one, other in zip(jax.tree.leaves(weights), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-5)


def test_training_ends_after_the_first_pass_that_leaves_next_to_nothing():
    windows, arm = draw().training, make_arm("dft")
    _, losses = training.train_network(windows, arm, replace(SMALL, passes=4), 1e-2, 0)
    means = losses.mean(axis=1)
    for bound in (means[0] * 1.001, means[1:3].mean(), means.min() * 0.999):
        passes = next((number for number, mean in enumerate(means, 1) if mean < bound), 4)
        _, found = training.train_network(windows, arm, replace(SMALL, passes=4, learned=float(bound)), 1e-2, 0)
        np.testing.assert_array_equal(found, losses[:passes])


@pytest.mark.parametrize(
    ("spec", "changes"), [("dft", False), ("learned", True), pytest.param("t5", True, marks=pytest.mark.slow)]
)
def test_only_arms_that_are_learned_change(spec, changes):
    arm = make_arm(spec)
    weights, _ = training.train_network(draw().training, arm, SMALL, 1e-2, 0)
    assert bool(np.any(weights["arm"] != arm.values.astype(np.float32))) == changes


def test_importance_weighs_the_losses_of_a_label():
    windows, arm = draw().training, make_arm("dft")
    once = replace(SMALL, passes=1, batch=48)
    plain, none, both = (
        training.train_network(windows, arm, once, 1e-3, 0, importance)[1][0, 0]
        for importance in [(1, 1), (2, 0), (0, 2)]
    )
    assert plain == pytest.approx((none + both) / 2, rel=1e-6)
    assert none != both


def test_windows_are_judged_alike_in_groups_of_any_size(monkeypatch):
    windows, arm = draw().training, make_arm("dft")
    weights, _ = training.train_network(windows, arm, SMALL, 1e-2, 0)
    whole = training.judge_windows(weights, windows, arm, SMALL)
    monkeypatch.setattr(training, "_MOST_SCORES", 7 * SMALL.heads * LENGTH**2)
    np.testing.assert_allclose(training.judge_windows(weights, windows, arm, SMALL), whole, rtol=1e-5, atol=1e-6)
    assert whole.shape == (48,)


def make_trial(**changes):
    return Trial(**({"task": "where", "arm": "dft", "norm": "own", "length": LENGTH, "seed": 0} | changes))


def test_a_trial_is_the_same_every_time():
    first, second = (run_trial(make_trial(), SMALL) for _ in range(2))
    assert first == replace(second, seconds=first.seconds)
    assert first.to_columns()["accuracy"] == [first.accuracy]
    assert first.key == make_trial().key
    assert first.weights == 2 * 16 + 17 * 48 + 17 * 16 + 17 * 12 + 13 * 16 + 6 * 16 + 17


def test_the_rate_is_chosen_on_validation_windows_and_the_test_windows_are_judged_once(monkeypatch):
    looked = []
    judge = training.judge_windows

    def watch(weights, windows, arm, design):
        looked.append(windows.values.tobytes())
        return judge(weights, windows, arm, design)

    monkeypatch.setattr(trial, "judge_windows", watch)
    found = run_trial(make_trial(task="bag"), SMALL)
    data = draw_windows("bag", length=LENGTH, seed=0, scale=6, noise=0.1, counts=(48, 32, 32))
    assert looked == [data.validation.values.tobytes()] * 2 + [data.test.values.tobytes()]
    assert found.rate == SMALL.rates[int(np.argmax(found.validation))]


def test_where_next_to_nothing_is_to_be_won_no_other_rate_is_tried(monkeypatch):
    design = replace(SMALL, rates=(1e-3, 1e-2, 2e-2))
    tried = run_trial(make_trial(), design)
    assert len(tried.validation) == 3
    fewer = run_trial(make_trial(), replace(design, settled=tried.validation[0]))
    assert (fewer.validation, fewer.rate) == (tried.validation[:1], 1e-3)


def record_beginnings(monkeypatch, specs):
    """What networks of several arms begin with: windows, order of batches and weights but the arm's."""
    seen = []
    train = training.train_network

    def watch(windows, arm, design, rate, seed, importance):
        weights = training.draw_weights(design, 1, arm, training.start_stream(seed, "weights"))
        order = training.start_stream(seed, "batches").permutation(9)
        leaves = [leaf.tobytes() for name in ("input", "layers", "head") for leaf in jax.tree.leaves(weights[name])]
        seen.append((windows.values.tobytes(), order.tobytes(), *leaves))
        return train(windows, arm, design, rate, seed, importance)

    monkeypatch.setattr(trial, "train_network", watch)
    for spec in specs:
        run_trial(make_trial(arm=spec), replace(SMALL, rates=(1e-3,)))
    return seen


def test_all_arms_of_a_seed_see_the_same(monkeypatch):
    seen = record_beginnings(monkeypatch, ["none", "dft", "learned"])
    assert len(set(seen)) == 1


def test_an_arm_that_shifts_the_weights_of_its_network_would_be_found(monkeypatch):
    def draw_first(design, channels, arm, generator):
        generator.normal(size=arm.values.shape)
        return draw_weights(design, channels, arm, generator)

    monkeypatch.setattr(training, "draw_weights", draw_first)
    assert len(set(record_beginnings(monkeypatch, ["none", "dft"]))) == 2


def test_seeds_give_other_windows_and_other_weights(monkeypatch):
    seen = record_beginnings(monkeypatch, ["dft"])
    run_trial(make_trial(seed=1), replace(SMALL, rates=(1e-3,)))
    differ = [one != other for one, other in zip(*seen, strict=True)]
    # the windows, the order of batches, the input's weights; norms begin alike
    assert all(differ[:4])


@pytest.mark.parametrize(
    ("labels", "words"),
    [([0, 1, 2] * 16, "two classes apart (3)"), ([0, 1] * 4, "too few windows for a batch (8 windows); at least 16")],
)
def test_windows_that_cannot_be_learned_are_refused(labels, words):
    windows = SimpleNamespace(values=np.zeros((len(labels), LENGTH, 1)), labels=np.array(labels))
    assert words in catch(training.train_network, windows, make_arm("dft"), SMALL, 1e-3, 0, kind=InputError)


def test_without_jax_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optax", None)
    assert catch(training.load_jax, kind=PeSpectraError).endswith("pip install 'pe-spectra[experiment]'")


def test_the_room_is_imported_without_jax():
    code = "import sys, pe_spectra.experiment.trial; sys.exit('jax' in sys.modules or 'optax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.slow
def test_where_is_learned_with_the_sinusoid_and_not_without():
    found = {arm: run_trial(make_trial(arm=arm, length=32, seed=2000), QUICK) for arm in ("none", "sinusoidal")}
    assert found["sinusoidal"].accuracy > 0.95
    # 1024 windows: five standard deviations of a fair coin
    assert abs(found["none"].accuracy - 0.5) < 5 * 0.5 / FULL.test**0.5


@pytest.mark.slow
@pytest.mark.parametrize("task", ["lag", "period", "order", "trend-change"])
def test_without_positions_a_symmetric_task_stays_at_chance(task):
    found = run_trial(make_trial(arm="none", task=task, length=32, seed=2000), QUICK)
    assert abs(found.accuracy - 0.5) < 5 * 0.5 / FULL.test**0.5
