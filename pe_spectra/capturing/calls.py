"""Calling a module at positions: what to give it, by the names of its arguments, and what it gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, signature
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from pe_spectra.capturing.foreign_tensors import Taken, is_tensor, make_positions, make_zeros, take_array
from pe_spectra.errors import InputError, shorten
from pe_spectra.exact import F64, I64
from pe_spectra.models.dumps.cache_shapes import pair_up
from pe_spectra.records import NamedTuple

#: Arguments by a part of their names, the first that fits: positions, how many there are, the kind of layers.
_POSITIONS, _LENGTHS, _KINDS = ("pos", "timestep"), ("len",), ("layer_type",)
#: Names of arguments that are positions, and of those that are what a module is about, whole.
_TIMES = ("t", "s", "times")
_INPUTS = ("x", "q", "query", "input", "inputs", "inputs_embeds", "hidden_states", "value", "value_states", "tensor")
#: Smallest distance of an angle from position times its first row that is not rounding, as a share of the angle.
_EVEN = 1e-2
#: Share by which squares of radii differ at most, more than rounding to bfloat16 leaves.
_ROUND = 0.05
#: What is wrong with a call that gave something else.
_UNREAD = "what it gives cannot be read"


class Answered(NamedTuple):
    """What a call gave, a row for each position: cosines and then sines to turn by, or a table that is added."""

    what: Literal["rotation", "table"]
    values: F64
    dtype: str


class CallForm(NamedTuple):
    """One way to call a module: what each of its arguments is for, and of which shape it is."""

    roles: Mapping[str, str]
    shapes: Mapping[str, tuple[int, ...]]
    own: Any
    positions: I64
    kind: str

    def make(self) -> dict[str, Any]:
        """Make the arguments, anew for each call: a module may write to what it is given."""
        return {name: self._fill(role, self.shapes[name]) for name, role in self.roles.items()}

    def _fill(self, role: str, shape: tuple[int, ...]) -> Any:
        if role == "positions":
            return make_positions(self.own, self.positions, shape)
        if role == "input":
            return make_zeros(self.own, shape)
        if role == "length":
            return int(self.positions[-1]) + 1
        return self.kind or None if role == "kind" else getattr(self.own, role)


def list_attempts(module: Any, own: Any, positions: I64, width: int, kind: str) -> Iterator[CallForm]:
    """List the ways to try a module with, by the names of its arguments.

    Parameters
    ----------
    own : one of its tensors. width : columns of what it is about. kind : the kind of layers; may be empty.

    Raises
    ------
    InputError : an argument that must be given and whose name says nothing.

    >>> def forward(x, position_ids): ...
    >>> attempts = list_attempts(forward, np.ones(2), np.arange(4), 2, "")
    >>> [one.make()["position_ids"].shape for one in attempts][:2]
    [(1, 4), (4,)]
    """
    size = len(positions)
    shapes: dict[str, list[tuple[int, ...]]] = {
        "positions": [(1, size), (size,), (3, 1, size)],
        "input": [(1, size, width), (size, 1, width)],
    }
    roles = {name: role for name, role in _read_roles(module) if role}
    for chosen in product(*(shapes.get(role, [()]) for role in roles.values())):
        yield CallForm(roles, dict(zip(roles, chosen, strict=True)), own, positions, kind)


def _read_roles(module: Any) -> Iterator[tuple[str, str]]:
    """What each argument of a module is for; empty for one that need not be given."""
    function = getattr(module, "forward", module)
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError) as error:
        raise InputError("it cannot be called", "its arguments are not known") from error
    for name, one in parameters.items():
        if one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        role, required = _name_role(name), one.default is Parameter.empty
        if not role and required:
            if len(parameters) > 1:
                raise InputError("it cannot be called", f"its argument {name} is not known")
            role = "positions"
        yield name, role if required or one.default is None else ""


def _name_role(name: str) -> str:
    lower = name.lower()
    for role, parts in (("kind", _KINDS), ("length", _LENGTHS), ("positions", _POSITIONS)):
        if any(part in lower for part in parts):
            return role
    if lower in _TIMES:
        return "positions"
    return "input" if lower in _INPUTS else lower if lower in ("device", "dtype") else ""


def find_way(module: Any, attempts: Iterable[CallForm], *, turns: bool = False) -> CallForm:
    """Find the first way to call a module that gives something that can be read.

    Parameters
    ----------
    module : one that may be spoilt: what fails half-way may have changed it. turns : as for :func:`read_answer`.

    Raises
    ------
    InputError : there is none; it says what was given first, or else raised first.

    >>> def waves(positions):
    ...     return np.cos(positions), np.sin(positions)
    >>> find_way(waves, list_attempts(waves, np.ones(1), np.arange(4), 2, "")).shapes
    {'positions': (1, 4)}
    """
    refused: dict[str, InputError] = {}
    for attempt in attempts:
        try:
            call(module, attempt, turns=turns)
        except InputError as error:
            refused.setdefault(error.what, error)
        else:
            return attempt
    raise refused.get(_UNREAD) or next(iter(refused.values()))


def call(module: Any, attempt: CallForm, *, turns: bool = False) -> Answered:
    """Call a module in one way and read what it gives.

    Raises
    ------
    InputError : it gives nothing that can be read, or raises an error of its own.

    >>> def waves(positions):
    ...     return np.cos(positions), np.sin(positions)
    >>> call(waves, next(list_attempts(waves, np.ones(1), np.arange(4), 2, ""))).what
    'rotation'
    """
    try:
        given = module(**attempt.make())
    except Exception as error:  # whatever another's module raises says that it is not called in this way
        reason = f"{type(error).__name__}: {shorten(str(error).partition(chr(10))[0], 120)}"
        raise InputError("it cannot be called", reason) from error
    found = read_answer(given, attempt.positions, turns=turns)
    if found is None:
        rows = len(attempt.positions)
        raise InputError(_UNREAD, f"it gives {_describe(given)}, in which no rows of {rows} positions were found")
    return found


def read_answer(given: Any, positions: I64, *, turns: bool = False) -> Answered | None:
    """Read what a module gave, with a row for each position; None where it gave no such thing.

    Parameters
    ----------
    given : cosines and sines, as two arrays or complex numbers; or one array. turns : whether the module is known to
        hold a rotation, so that one array has angles, or cosines and sines side by side, and no table.

    >>> angles = np.arange(4.0)[:, None] * np.array([1.0, 0.1])
    >>> read_answer(angles, np.arange(4), turns=True).values.shape
    (4, 4)
    """
    taken = [one for one in map(take_array, _flatten(given)) if one is not None]
    if len(taken) == 1 and taken[0].squeezed.ndim == 3 and len(taken[0].squeezed) == 2:  # both, one after the other
        taken = [Taken(one, taken[0].dtype) for one in taken[0].squeezed]
    rows = [one for one in (_take_rows(one, positions) for one in taken) if one is not None]
    for one, other in pairwise(rows):
        if one.values.shape == other.values.shape and _lie_on_circle(one.values, other.values):
            # cosines of slow pairs begin near 1, their sines near 0
            sines_first = np.abs(one.values[0]).sum() < np.abs(other.values[0]).sum()
            both = (other, one) if sines_first else (one, other)
            return Answered("rotation", np.hstack([part.values for part in both]), one.dtype)
    if len(rows) != 1:
        return None
    values, dtype = rows[0]
    if np.iscomplexobj(values):
        return Answered("rotation", np.hstack([values.real, values.imag]), dtype)
    if not turns:
        # one row for all is that of a batch, or of position 0
        return Answered("table", values, dtype) if (values != values[0]).any() else None
    if _are_angles(values, positions):
        return Answered("rotation", np.hstack([np.cos(values), np.sin(values)]), dtype)
    try:
        waves = pair_up(values, None)
    except InputError:
        return None
    return Answered("rotation", np.hstack([waves.cosines, waves.sines]), dtype) if values.any() else None


def _lie_on_circle(one: F64, other: F64) -> bool:
    squares = one**2 + other**2
    return bool(np.ptp(squares) <= _ROUND * squares.max())


def _flatten(given: Any) -> Iterator[Any]:
    if isinstance(given, Mapping):
        given = tuple(given.values())
    for one in given if isinstance(given, tuple | list) else (given,):
        if is_tensor(one):
            yield one


def _take_rows(taken: Taken, positions: I64) -> Taken | None:
    """The rows of a tensor, one for each position, of all up to the last too; of parts that are equal the first."""
    if not taken.values.size or not np.isfinite(taken.values).all():
        return None
    values, size = taken.squeezed, len(positions)
    if values.ndim > 2 and len(values) != size and all(np.array_equal(one, values[0]) for one in values):
        values = values[0]  # positions along several axes, which were the same
    if values.ndim == 3 and values.shape[2] == 2:
        values = values[..., 0] + 1j * values[..., 1]
    if values.ndim not in (1, 2) or len(values) not in (size, positions[-1] + 1):
        return None
    rows = values.reshape(len(values), -1)
    return Taken(rows if len(values) == size else rows[positions], taken.dtype)


def _are_angles(values: F64, positions: I64) -> bool:
    """Whether rows are position times frequency: those of the first position that is not 0, again and again."""
    first = int(np.argmax(positions > 0))
    expected = positions[:, None] * (values[first] / positions[first])
    reach = np.maximum(np.abs(expected), np.abs(values[first]).max())
    return bool(values[first].any() and (np.abs(values - expected) <= _EVEN * reach).all())


def _describe(given: Any) -> str:
    shapes = [" x ".join(map(str, one.shape)) or "a single number" for one in _flatten(given)]
    return ", ".join(shapes[:4]) or type(given).__name__
