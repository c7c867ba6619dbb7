"""Encodings of structure: nodes of a tree, states of a recurrent network."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_positions, check_held, check_rows
from pe_spectra.encodings.learned import HeldTable
from pe_spectra.encodings.parameters import SEED, FileOfNumbers, GivenArray, parameter
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.limits import DEFAULT_LENGTH, MAX_LENGTH, MAX_POSITION
from pe_spectra.numbers import IntegerRange, RealRange
from pe_spectra.records import dataclass

#: Branches of a path that are written out.
_WRITTEN_BRANCHES = 12
#: Widest state of a recurrent network: its weights are d x d.
_MAX_STATE = 4096
#: A state that changes by less at a step is said to stand still.
_STILL = 1e-12
_STEPS = IntegerRange(minimum=1, maximum=1024)


@final
@dataclass(frozen=True, kw_only=True)
class Tree(Encoding):
    """Paths in a tree (Shiv & Quirk 2019): the one-hot branch of the last step first, then that of the one before.

    Positions are the nodes of the complete tree of `branching` children each in breadth-first order:
    0 is the root, the children of s are n s + 1 .. n s + n. Only the last `depth` steps of a path are kept;
    step j back is multiplied with decay**j, and where decay < 1 all with sqrt(1 - decay**2).
    """

    name: ClassVar[str] = "tree"
    family: ClassVar[str] = "structural"
    summary: ClassVar[str] = "the path from the root of a tree, one-hot branch by branch, the last one first"
    formula: ClassVar[str] = "e(child b of x) = (onehot_n(b), e(x) cut by n); then block j times p**j sqrt(1 - p**2)"
    source: ClassVar[str] = "Shiv & Quirk 2019, NeurIPS; microsoft/icecaps, icecaps/util/trees.py"
    pitfalls: ClassVar[str] = (
        "paths that agree in their last steps share a vector once they are longer than the depth; the root is zero; "
        "icecaps takes the parent's own number of children for the width of a step, so that trees of different "
        "shapes can coincide; published code has several learned decays and a factor sqrt(d_model / 2) besides"
    )

    branching: int = parameter(default=2, accepts=_STEPS, meaning="children of a node, n")
    depth: int = parameter(default=8, accepts=_STEPS, meaning="steps of a path that are kept, k; the width is n k")
    decay: float = parameter(
        default=1.0,
        accepts=RealRange(minimum=0.5, maximum=1.0),
        meaning="factor p for each step further back; below 1 all is scaled by sqrt(1 - p**2)",
    )

    @property
    def d(self) -> int:
        """Width, n k."""
        return self.branching * self.depth

    def list_branches(self, positions: I64) -> I64:
        """Branches 0 .. n-1 of the last `depth` steps of each path, the last first; -1 where there is none; (S, k)."""
        branches = np.full((len(positions), self.depth), -1, dtype=np.int64)
        node = positions.copy()
        for step in range(self.depth):
            inner = node > 0
            if not inner.any():
                break
            branches[inner, step] = (node[inner] - 1) % self.branching
            node = np.maximum(node - 1, 0) // self.branching
        return branches

    def table(self, positions: int | ArrayLike) -> F64:
        """Vectors of the nodes, shape (S, n k); row 0 is the root."""
        branches = self.list_branches(as_positions(positions, self.d))
        weights = self.decay ** np.arange(self.depth)
        if self.decay < 1:
            weights = weights * np.sqrt((1 - self.decay) * (1 + self.decay))
        codes = np.zeros((*branches.shape, self.branching))
        row, step = np.nonzero(branches >= 0)
        codes[row, step, branches[row, step]] = weights[step]
        return codes.reshape(len(branches), self.d)

    def exact_key(self, positions: I64) -> I64:
        """The first node in order with the same last steps."""
        first, size = 0, 1  # of the level as deep as the code sees
        for _ in range(self.depth):
            first, size = first + size, size * self.branching
            if first + size > MAX_POSITION:  # no path is cut
                return positions
        if self.branching == 1:
            return np.minimum(positions, first)
        key = positions.copy()
        start, count = first, size
        while start <= MAX_POSITION:
            level = (positions >= start) & (positions < min(start + count, MAX_POSITION + 1))
            key[level] = first + (positions[level] - start) % size
            start, count = start + count, count * self.branching
        return key

    @property
    def theorem(self) -> Theorem:
        """Every step that is kept can be read off its own columns."""
        return Theorem(
            kind="path-suffix",
            text=f"each step has columns of its own and a factor that is not 0: the last {self.depth} can be read off",
        )

    def describe_position(self, s: int) -> str:
        """The path of a node: `root/1/0`."""
        if self.branching == 1:
            return f"depth {s}"
        path: list[str] = []
        while s > 0:
            path.append(str((s - 1) % self.branching))
            s = (s - 1) // self.branching
        shown = path[:_WRITTEN_BRANCHES][::-1]
        return "/".join(["root", *(["..."] if len(path) > len(shown) else []), *shown])


@final
@dataclass(frozen=True, kw_only=True)
class Rnn(HeldTable):
    """The states of an Elman network under constant input, in place of a positional encoding.

    h(s) = tanh(W h(s-1) + c), h(-1) = 0; c = U x + b + b' for the input x = 1. Without weights from a
    file W, U, b and b' are uniform in [-1/sqrt(d), 1/sqrt(d)], as PyTorch begins its RNN.
    """

    name: ClassVar[str] = "rnn"
    family: ClassVar[str] = "structural"
    summary: ClassVar[str] = "the states of a recurrent network that is fed the same input at every step"
    formula: ClassVar[str] = "h(s) = tanh(W h(s-1) + U x + b), h(-1) = 0, x constant"
    source: ClassVar[str] = "Elman 1990, Cognitive Science 14; initial weights as in PyTorch's nn.RNN"
    pitfalls: ClassVar[str] = (
        "untrained, its state settles on a fixed point within some tens of steps, and all later positions look alike; "
        "where it does not settle, rounding decides about far positions"
    )

    values: GivenArray | None = parameter(
        name="table",
        accepts=FileOfNumbers(what="a table of weights, d x (d + 1)"),
        meaning="learned weights: W, and in the last column U x + b; not set: drawn",
    )
    d: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=_MAX_STATE),
        meaning="width of the state; that of the weights, or 64 where they are drawn",
    )
    length: int = parameter(
        default=DEFAULT_LENGTH,
        accepts=IntegerRange(minimum=1, maximum=MAX_LENGTH),
        meaning="steps that the network runs",
    )
    seed: int = parameter(like=SEED, meaning="seed of the weights where they are drawn", only_with={"values": (None,)})

    def __post_init__(self) -> None:
        super().__post_init__()
        rows, columns = self.held
        if rows is not None and (columns != rows + 1 or rows > _MAX_STATE):
            accepted = f"d x (d + 1) is accepted, d up to {_MAX_STATE}"
            raise InputError(f"rnn: table has shape {rows} x {columns}", accepted=accepted)
        self.settle("d", rows, 64)
        check_held("the table", self.length, self.d)

    @property
    def rows(self) -> int:
        """Steps that the network runs."""
        return self.length

    @property
    def notes(self) -> tuple[str, ...]:
        """From where on the state stays the same."""
        moving = np.flatnonzero(np.abs(np.diff(self._states, axis=0)).max(axis=1, initial=0.0) > _STILL)
        start = int(moving[-1]) + 1 if len(moving) else 0
        if start >= self.length - 1:
            return super().notes
        return (
            *super().notes,
            f"rnn: from position {start} on the state changes by less than {_STILL:g} at a step",
        )

    def bound_error(self, _table: F64) -> None:
        """None: an expanding network makes a rounding grow from state to state."""
        return

    def _draw(self, generator: np.random.Generator) -> F64:
        """W, shape (d, d), and the constant part c as a last column."""
        bound = 1 / np.sqrt(self.d)
        drawn = generator.uniform(-bound, bound, (self.d, self.d + 3))
        return np.column_stack([drawn[:, : self.d], drawn[:, self.d :].sum(axis=1)])

    @cached_property
    def _states(self) -> F64:
        matrix, constant = self.entries[:, :-1], self.entries[:, -1]
        states = np.empty((self.length, self.d))
        state = np.zeros(self.d)
        for s in range(self.length):
            before, state = state, np.tanh(np.sum(matrix * state, axis=1) + constant)
            states[s] = state
            if np.array_equal(before, state):
                states[s:] = state
                break
        states.flags.writeable = False
        return states

    def table(self, positions: int | ArrayLike) -> F64:
        """States of the positions, shape (S, d)."""
        s = as_positions(positions, self.d)
        check_rows(s, self.length)
        return self._states[s]
