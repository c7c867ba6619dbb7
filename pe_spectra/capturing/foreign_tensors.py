"""Tensors of any framework as arrays of NumPy, and new ones made of a module's own: by attribute, nothing is imported.

A tensor of PyTorch says `detach`, `cpu`, `numpy`; an array of JAX is one of NumPy to `np.asarray`. A type that
NumPy lacks, as bfloat16, goes through float32, which holds all of its numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import I64, NDArray
from pe_spectra.records import NamedTuple

#: Types that NumPy has, by the last part of their names.
_KNOWN = ("float16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8")
#: What numbers of a kind of types are carried in.
_CARRIERS = {"f": np.float64, "V": np.float64, "c": np.complex128, "i": np.int64, "u": np.int64}


class Taken(NamedTuple):
    """The numbers of a tensor in float64, int64 or complex128, and the type that they had."""

    values: NDArray[Any]
    dtype: str

    @property
    def squeezed(self) -> NDArray[Any]:
        """The numbers without axes of length 1."""
        return np.squeeze(self.values)


def is_tensor(value: object) -> bool:
    """Whether something looks like a tensor: it has a shape, a type of numbers, and is no class.

    >>> is_tensor(np.ones(2)), is_tensor([1.0, 2.0])
    (True, False)
    """
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type)


def name_type(tensor: Any) -> str:
    """Return the name of a tensor's type, as float32 of torch.float32.

    >>> name_type(np.ones(2, dtype=np.float16))
    'float16'
    """
    return str(getattr(tensor.dtype, "name", tensor.dtype)).rpartition(".")[2]


def take_array(tensor: Any) -> Taken | None:
    """Take the numbers of a tensor; None where it holds none, as masks of truth values.

    Raises
    ------
    InputError : a tensor on the meta device, which has a shape and no numbers.

    >>> take_array(np.ones((1, 2), dtype=np.float32))
    Taken(values=array([[1., 1.]]), dtype='float32')
    """
    if getattr(tensor, "is_meta", False):
        raise InputError("a tensor on the meta device has no numbers", f"shape {tuple(tensor.shape)}", "a loaded model")
    dtype, found = name_type(tensor), tensor
    if hasattr(tensor, "detach"):
        found = tensor.detach().cpu()
        found = found.numpy() if dtype in _KNOWN else found.float().numpy() if "float" in dtype else None
    values = np.asarray(found)
    carrier = _CARRIERS.get(values.dtype.kind)
    return None if found is None or carrier is None else Taken(values.astype(carrier), dtype)


def make_positions(own: Any, positions: I64, shape: tuple[int, ...]) -> Any:
    """Make a tensor of positions like one of the module's own: of its framework, on its device, in int64.

    >>> make_positions(np.ones(2), np.arange(3), (1, 3))
    array([[0, 1, 2]])
    """
    placed = np.broadcast_to(positions, shape)
    if not hasattr(own, "new_tensor"):
        return placed.copy()
    # a type of few digits would round them on the way
    wide = own.real.detach().cpu().double()
    return wide.new_tensor(placed.tolist()).long().to(own.device)


def make_zeros(own: Any, shape: tuple[int, ...]) -> Any:
    """Make a tensor of zeros like one of the module's own, in its type.

    >>> make_zeros(np.ones(2), (1, 2))
    array([[0., 0.]])
    """
    own = own.real
    return own.new_zeros(shape) if hasattr(own, "new_zeros") else np.zeros(shape, dtype=own.dtype)
