"""Keys of a configuration, read strictly: true is no number, and neither is text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pe_spectra.errors import FileError, shorten

#: Counts and widths of models end somewhere.
_MOST = 1 << 40
#: Numbers do too: squares of larger ones overflow.
_LARGEST = 1e300


class Keys:
    """One object of a file, with the place that it has there.

    Parameters
    ----------
    found : the object.
    path : the file, for messages.
    where : the keys that lead to the object, "text_config."; empty at the top.
    """

    def __init__(self, found: Mapping[str, Any], path: str, where: str = "") -> None:
        self.found, self.path, self.where = found, path, where

    def __contains__(self, key: object) -> bool:
        # null is "not set": files list keys of their model's class that it does not use
        return isinstance(key, str) and self.found.get(key) is not None

    def has_any(self, *keys: str) -> bool:
        """Whether one of the keys is set."""
        return any(key in self for key in keys)

    def find_key(self, keys: Sequence[str]) -> str | None:
        """Return the first of the keys that is set."""
        return next((key for key in keys if key in self), None)

    def refuse(self, key: str, accepted: str) -> NoReturn:
        """Refuse the value of a key.

        Raises
        ------
        FileError : always.
        """
        name, value = shorten(f"{self.where}{key}"), shorten(repr(self.found.get(key)))
        raise FileError(self.path, f"{name} cannot be used ({value}); {accepted}")

    def find_integer(self, *keys: str, least: int = 1) -> int | None:
        """Read the first of the keys that is set, an integer; None where none is."""
        key = self.find_key(keys)
        if key is None:
            return None
        value = self.found[key]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            is_large = isinstance(value, int) and value > _MOST
            self.refuse(key, f"an integer from {least}{f' to {_MOST}' if is_large else ''} is accepted")
        return int(value)

    def read_integer(self, *keys: str) -> int:
        """Read the first of the keys that is set, a positive integer.

        Raises
        ------
        FileError : none of them is set, or it is no positive integer.
        """
        found = self.find_integer(*keys)
        if found is None:
            raise FileError(self.path, f"lacks a key; looked for {', '.join(keys)}")
        return found

    def find_number(self, *keys: str, zero: bool = False) -> float | None:
        """Read the first of the keys that is set, a finite number above 0; None where none is."""
        key = self.find_key(keys)
        if key is None:
            return None
        value = self.found[key]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _LARGEST or (value == 0 and not zero):
            most = f", at most {_LARGEST:g}," if is_number and value > _LARGEST else ""
            self.refuse(key, f"a number {'from' if zero else 'above'} 0{most} is accepted")
        return float(value)

    def find_truth(self, *keys: str) -> bool | None:
        """Read the first of the keys that is set, true or false; None where none is."""
        key = self.find_key(keys)
        if key is None:
            return None
        if not isinstance(self.found[key], bool):
            self.refuse(key, "true or false is accepted")
        return bool(self.found[key])

    def find_text(self, *keys: str) -> str | None:
        """Read the first of the keys that is set, a text; None where none is."""
        key = self.find_key(keys)
        if key is None:
            return None
        if not isinstance(self.found[key], str):
            self.refuse(key, "a text is accepted")
        return str(self.found[key])

    def find_numbers(self, key: str) -> tuple[float, ...] | None:
        """Read a list of finite numbers above 0; None where the key is not set."""
        if key not in self:
            return None
        values = self.found[key]
        if not isinstance(values, list) or not values:
            self.refuse(key, "a list of numbers is accepted")
        for value in values:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 < value < math.inf:
                self.refuse(key, f"a list of numbers above 0 is accepted, not {shorten(repr(value))}")
        return tuple(float(value) for value in values)

    def find_texts(self, key: str) -> tuple[str, ...] | None:
        """Read a list of texts; None where the key is not set."""
        if key not in self:
            return None
        values = self.found[key]
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self.refuse(key, "a list of texts is accepted")
        return tuple(values)

    def find_object(self, key: str) -> Keys | None:
        """Return an object in this one; None where the key is not set."""
        if key not in self:
            return None
        if not isinstance(self.found[key], dict):
            self.refuse(key, "an object is accepted")
        return Keys(self.found[key], self.path, f"{self.where}{key}.")
