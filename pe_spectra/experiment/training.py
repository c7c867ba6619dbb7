"""Training by AdamW for a fixed number of passes, and judging windows; JAX and Optax are imported here, when used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.exact import F64, I64, NDArray
from pe_spectra.experiment.arms import Arm
from pe_spectra.experiment.design import Design
from pe_spectra.experiment.network import Weights, apply_network, draw_weights
from pe_spectra.experiment.streams import start_stream

#: One thread for each network: more gain nothing at this size, trials run beside each other, and sums are divided
#: among threads, so that with another number of them training ends elsewhere. The second is read by XLA's thread pool.
_FLAGS, _THREADS = "--xla_cpu_multi_thread_eigen=false", {"NPROC": "1"}
#: Scores of attention that are held at a time where windows are judged.
_MOST_SCORES = 1 << 22


class LabelledWindows(Protocol):
    """Windows (N, L, channels) with labels (N,) of 0 and 1: planted ones, or a part of a data set."""

    @property
    def values(self) -> NDArray[Any]: ...

    @property
    def labels(self) -> I64: ...


def load_jax() -> Any:
    """Import JAX for the processor, with one thread.

    Raises
    ------
    PeSpectraError : JAX or Optax is not installed.
    """
    if "jax" not in sys.modules:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAGS}".strip()
        os.environ.update(_THREADS)
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        import jax
        import optax
    except ImportError as error:
        missing = "the experiment needs JAX and Optax, which are not installed"
        raise PeSpectraError(f"{missing}; pip install 'pe-spectra[experiment]'") from error
    return jax if optax else None


def train_network(
    windows: LabelledWindows,
    arm: Arm,
    design: Design,
    rate: float,
    seed: int,
    importance: tuple[float, float] = (1.0, 1.0),
) -> tuple[Weights, F64]:
    """Train one network; return its weights, as float32, and the mean loss of each step, shape (passes, steps).

    AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101) with a rate that rises for the share `warmup` of the steps and
    then falls to 0 as a cosine; matrices alone decay, and of an arm that is not trained nothing changes. After a pass
    with a mean loss below `learned` there is no other.

    Parameters
    ----------
    windows : to train on; those beyond a multiple of the batch are left out, other ones in each pass.
    rate : the largest learning rate.
    seed : of the first weights and the order of batches.
    importance : what the losses of windows of label 0 and of label 1 are multiplied with.

    Raises
    ------
    InputError : labels other than 0 and 1, or fewer windows than a batch has.
    PeSpectraError : JAX or Optax is not installed.
    """
    jax = load_jax()
    if not np.isin(windows.labels, (0, 1)).all():
        raise InputError("the network tells two classes apart", str(windows.labels.max() + 1), "labels 0 and 1")
    if len(windows.labels) < design.batch:
        given = f"{len(windows.labels)} windows"
        raise InputError("there are too few windows for a batch", given, f"at least {design.batch}")
    weights = draw_weights(design, windows.values.shape[2], arm, start_stream(seed, "weights"))
    generator = start_stream(seed, "batches")
    steps = len(windows.labels) // design.batch
    orders = [generator.permutation(len(windows.labels))[: steps * design.batch] for _ in range(design.passes)]
    trained, losses, passes = _build_trainer(design.heads, design.clip, design.decay, design.warmup, arm.entry)(
        jax.tree.map(np.float32, weights),
        np.asarray(windows.values, dtype=np.float32),
        windows.labels.astype(np.float32),
        np.asarray(importance, dtype=np.float32)[windows.labels],
        arm.index,
        np.stack(orders).reshape(design.passes, steps, design.batch),
        np.float32(rate),
        np.float32(arm.trained),
        np.float32(design.learned),
    )
    return jax.tree.map(np.asarray, trained), np.asarray(losses, dtype=float)[: int(passes)]


def judge_windows(weights: Weights, windows: LabelledWindows, arm: Arm, design: Design) -> F64:
    """Return the logit of label 1 for each window, shape (N,).

    Raises
    ------
    PeSpectraError : JAX or Optax is not installed.
    """
    load_jax()
    count, length, channels = windows.values.shape
    batch = max(1, min(count, _MOST_SCORES // (design.heads * length * length)))
    groups = -(-count // batch)
    padded = np.zeros((groups * batch, length, channels), dtype=np.float32)
    padded[:count] = windows.values
    logits = _build_judge(design.heads, arm.entry)(weights, padded.reshape(groups, batch, length, channels), arm.index)
    return np.asarray(logits, dtype=float).reshape(-1)[:count]


@lru_cache(maxsize=32)
def _build_judge(heads: int, entry: str) -> Callable[..., Any]:
    """The network over groups of windows, compiled once for each shape."""
    import jax

    def judge(weights: Any, groups: Any, index: Any) -> Any:
        return jax.lax.map(lambda group: apply_network(weights, group, index, entry=entry, heads=heads), groups)

    compiled: Callable[..., Any] = jax.jit(judge)
    return compiled


@lru_cache(maxsize=32)
def _build_trainer(heads: int, clip: float, decay: float, warmup: float, entry: str) -> Callable[..., Any]:
    """A whole training, compiled once for each shape: arms that are added to tokens share one.

    All weights are one vector, which is a third faster to compile and to change than sixty arrays.
    """
    import jax
    import jax.numpy as jnp
    import optax
    from jax.flatten_util import ravel_pytree

    optimiser = optax.chain(optax.clip_by_global_norm(clip), optax.scale_by_adam())

    def train(
        weights: Any,
        values: Any,
        labels: Any,
        importance: Any,
        index: Any,
        order: Any,
        rate: Any,
        trained: Any,
        learned: Any,
    ) -> Any:
        start, restore = ravel_pytree(weights)
        moves = ravel_pytree(jax.tree.map(jnp.ones_like, weights) | {"arm": trained * jnp.ones_like(weights["arm"])})[0]
        decays = ravel_pytree(
            jax.tree.map(lambda part: jnp.full_like(part, decay * (part.ndim == 2)), weights)
            | {"arm": jnp.zeros_like(weights["arm"])}
        )[0]
        steps = order.shape[0] * order.shape[1]
        # counted from 1 and up to one step more: neither the first nor the last has the rate 0
        schedule = optax.warmup_cosine_decay_schedule(0.0, 1.0, max(1, round(warmup * steps)), steps + 1)

        def compute_loss(vector: Any, batch: Any) -> Any:
            logits = apply_network(restore(vector), values[batch], index, entry=entry, heads=heads)
            losses = optax.sigmoid_binary_cross_entropy(logits, labels[batch])
            return (importance[batch] * losses).mean()

        def step(state: Any, planned: Any) -> Any:
            vector, moments = state
            number, batch = planned
            loss, slope = jax.value_and_grad(compute_loss)(vector, batch)
            change, moments = optimiser.update(slope * moves, moments)
            return (vector - rate * schedule(number + 1) * (change + decays * vector), moments), loss

        (vector, _), losses, passes = _run_passes(step, (start, optimiser.init(start)), order, learned)
        return restore(vector), losses, passes

    compiled: Callable[..., Any] = jax.jit(train)
    return compiled


def _run_passes(step: Callable[..., Any], first: Any, order: Any, learned: Any) -> tuple[Any, Any, Any]:
    """Take the steps of one pass after the other, until the mean loss of one is below `learned`.

    Returns the last state, the losses of all steps (passes, steps), 0 where there were none, and how many passes ran.
    """
    import jax
    import jax.numpy as jnp

    passes, steps, _ = order.shape

    def go_on(plan: Any) -> Any:
        done, losses, _ = plan
        return (done < passes) & ((done == 0) | (losses[done - 1].mean() >= learned))

    def run_pass(plan: Any) -> Any:
        done, losses, state = plan
        state, found = jax.lax.scan(step, state, (done * steps + jnp.arange(steps), order[done]))
        return done + 1, losses.at[done].set(found), state

    done, losses, state = jax.lax.while_loop(go_on, run_pass, (0, jnp.zeros((passes, steps)), first))
    return state, losses, done
