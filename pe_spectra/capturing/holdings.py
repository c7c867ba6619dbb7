"""What modules hold of positions: lists of frequencies, caches of cosines and sines, tables; found by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pe_spectra.capturing.foreign_tensors import Taken, is_tensor, name_type, take_array
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.files.known_tables import KNOWN_NAMES, find_known_name
from pe_spectra.models.dumps.dump import Dump
from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies
from pe_spectra.records import NamedTuple

#: In the name of a list, what says that its numbers are frequencies; a parameter is one by such a name alone.
_FREQUENCY_WORDS = ("freq", "theta")
#: In the path of an array of cosines and sines, what says that they turn queries and keys and are not added to tokens.
_TURNING_WORDS = ("freq", "rot", "rope", "cos")
#: Copies that modules keep of the frequencies of the trained length.
_KEPT = "original"
#: Rows that say whether an array has cosines and sines.
_SEEN_ROWS = 512
#: End of the names of lists; what stands before it names the kind of layers.
_LIST_END = "inv_freq"


class Holding(NamedTuple):
    """A module and the tensors that it holds itself, by their names in it; path is that of the module in the model."""

    path: str
    module: Any
    buffers: Mapping[str, Any]
    parameters: Mapping[str, Any]

    def name(self, tensor: str) -> str:
        """Return the path of one of its tensors."""
        return f"{self.path}.{tensor}".lstrip(".")

    @property
    def shown(self) -> str:
        """The module as a reader finds it: its path, or of the model itself its class."""
        return self.path or type(self.module).__name__

    def take(self) -> dict[str, Taken]:
        """Take the numbers of all buffers."""
        taken = ((name, take_array(tensor)) for name, tensor in self.buffers.items())
        return {name: one for name, one in taken if one is not None}


class Held(NamedTuple):
    """What a module holds of positions: frequencies by kind of layers, caches that turn, and tables that are added."""

    lists: Mapping[str, tuple[Taken, Dump]]
    waves: tuple[Taken, Taken | None] | None
    tables: Mapping[str, Taken]

    def __bool__(self) -> bool:
        return bool(self.lists or self.waves or self.tables)


def list_holdings(model: Any) -> Iterator[Holding]:
    """Go through the modules of a model with the tensors that each holds itself, registered or not.

    >>> class Rotary:
    ...     inv_freq = np.array([1.0, 0.1])
    ...     def named_modules(self): return [("", self)]
    ...     def named_buffers(self, recurse=True): return [("inv_freq", self.inv_freq)]
    ...     def named_parameters(self, recurse=True): return []
    >>> [list(one.buffers) for one in list_holdings(Rotary())]
    [['inv_freq']]
    """
    for path, module in model.named_modules():
        plain = {name: value for name, value in vars(module).items() if is_tensor(value)}
        parameters = dict(module.named_parameters(recurse=False))
        buffers = {**plain, **dict(module.named_buffers(recurse=False))}
        # of a module that is compiled or wrapped some are None
        found = {name: one for name, one in buffers.items() if is_tensor(one) and name not in parameters}
        yield Holding(path, module, found, parameters)


def find_held(holding: Holding) -> Held:
    """Find what a module holds of positions, by numbers: nothing is known of classes.

    >>> table = np.stack([np.sin(np.arange(8.0)), np.cos(np.arange(8.0))], axis=1)
    >>> list(find_held(Holding("", None, {"pe": table}, {})).tables)
    ['pe']
    """
    small = {name: one for name, one in holding.buffers.items() if 0 not in one.shape and "float" in _say_type(one)}
    named = {name: one for name, one in holding.parameters.items() if _has_word(name, _FREQUENCY_WORDS)}
    lists: dict[str, tuple[Taken, Dump]] = {}
    for name, tensor in {**small, **named}.items():
        # one number alone is a frequency by its whole name only
        is_list = len(_squeeze(tensor)) == 1 or (tuple(tensor.shape) == (1,) and name.endswith(_LIST_END))
        found = _read_list(name, tensor) if is_list and _KEPT not in name else None
        if found is not None:
            lists[name] = found
    waves, taken = _find_waves(holding, small)
    tables = {
        holding.name(name): table
        for name, tensor in small.items()
        if name not in taken and len(_squeeze(tensor)) == 2 and (table := _read_sinusoids(tensor)) is not None
    }
    return Held(lists, waves, tables)


def find_learned(holding: Holding) -> Iterator[tuple[str, str, Taken]]:
    """Go through the learned tables of a module: path, what the rows are, numbers; by the names that models give them.

    >>> wpe = Holding("wpe", None, {}, {"weight": np.eye(4)})
    >>> [(path, kind) for path, kind, _ in find_learned(wpe)]
    [('wpe.weight', 'positions')]
    """
    for name, tensor in {**holding.buffers, **holding.parameters}.items():
        path = holding.name(name)
        # a module that turns by a grid may give its cosines and sines the name of a table
        turns = name in holding.buffers and _has_word(path, _TURNING_WORDS)
        known = None if turns else find_known_name(path)
        if known is not None and len(_squeeze(tensor)) == 2 and (taken := take_array(tensor)) is not None:
            yield path, KNOWN_NAMES[known], Taken(taken.squeezed, taken.dtype)


def list_unread(holding: Holding) -> tuple[str, ...]:
    """Return the paths of lists that are frequencies by their names and could not be read as such.

    >>> list_unread(Holding("visual", None, {"inv_freq": np.eye(2)}, {}))
    ('visual.inv_freq',)
    """
    names = [name for name in holding.buffers if name.endswith(_LIST_END) and _KEPT not in name]
    read = find_held(holding).lists if names else {}
    return tuple(holding.name(name) for name in names if name not in read)


def name_kind(tensor: str) -> str:
    """Return the kind of layers that a list of frequencies is named after; empty where it is not.

    >>> name_kind("sliding_attention_inv_freq"), name_kind("inv_freq")
    ('sliding_attention', '')
    """
    return tensor.removesuffix(_LIST_END).rstrip("_") if tensor.endswith(_LIST_END) else ""


def _has_word(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text.lower() for word in words)


def _say_type(tensor: Any) -> str:
    """The type of a tensor; complex numbers are made of floats."""
    return name_type(tensor).replace("complex", "float")


def _squeeze(tensor: Any) -> tuple[int, ...]:
    return tuple(int(size) for size in tensor.shape if size != 1)


def _read_list(name: str, tensor: Any) -> tuple[Taken, Dump] | None:
    """Frequencies: a list that falls, and begins at 1 rad/position unless its name says what it is."""
    taken = take_array(tensor)
    if taken is None:
        return None
    try:
        dump = read_inverse_frequencies(taken.values, taken.dtype)
    except InputError:
        return None
    first = float(np.max(dump.frequencies))
    begins = abs(first - 1) <= 2 * dump.error_bound and dump.base is not None
    return (taken, dump) if begins or _has_word(name, _FREQUENCY_WORDS) else None


def _find_waves(
    holding: Holding, tensors: Mapping[str, Any]
) -> tuple[tuple[Taken, Taken | None] | None, tuple[str, ...]]:
    """Find a cache of rotations: cosines with their sines beside them, complex numbers, or both in one array."""
    for name, tensor in tensors.items():
        partner = name.replace("cos", "sin", 1)
        if partner != name and partner in tensors and tensors[partner].shape == tensor.shape:
            cosines, sines = take_array(tensor), take_array(tensors[partner])
            if cosines is not None and sines is not None and _is_cache(cosines.squeezed, sines.squeezed):
                return (cosines, sines), (name, partner)
    for name, tensor in tensors.items():
        shape = _squeeze(tensor)
        turns = "complex" in name_type(tensor) or shape[2:] == (2,) or _has_word(holding.name(name), _TURNING_WORDS)
        taken = take_array(tensor) if turns and len(shape) in (2, 3) else None
        if taken is not None and _is_cache(taken.squeezed, None):
            return (taken, None), (name,)
    return None, ()


def _is_cache(cosines: F64, sines: F64 | None) -> bool:
    try:
        read_cache(cosines[:_SEEN_ROWS], None if sines is None else sines[:_SEEN_ROWS])
    except InputError:
        return False
    return True


def _read_sinusoids(tensor: Any) -> Taken | None:
    """A table of sines and cosines, row by row; a row of zeros for padding, and those before it, are passed over."""
    taken = take_array(tensor)
    if taken is None:
        return None
    values = taken.squeezed
    zeros = np.flatnonzero(~values[:_SEEN_ROWS].any(axis=1))
    return Taken(values, taken.dtype) if _is_cache(values[zeros[-1] + 1 if zeros.size else 0 :], None) else None
