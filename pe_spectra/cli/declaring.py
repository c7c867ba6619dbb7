"""What is declared of an option, or of an argument, and what Typer makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from typer.core import TyperArgument, TyperOption

from pe_spectra.numbers import Accepts, Choice, parse_list


class Option:
    """What is typed and said of one option, or of an argument.

    Attributes
    ----------
    typed : how it is typed, `--encoding -e`; a bare word before that names its value, alone it is an argument.
    metavar : what stands for its value; empty for a flag, and for a choice of words, which stand for it themselves.
    several : whether it takes several values.
    reads : what its values are; they stay text where what they mean depends on the encoding.
    words : what its values are completed to, where that is not what it reads; as "module:name" loaded only then.
    default : what it is where nothing sets it.
    usual : what it means where it is left out, if not the default: help says so, and no proposal repeats it.
    name : the name of its value.
    flag : its long spelling; empty for an argument.
    """

    def __init__(
        self,
        typed: str,
        metavar: str,
        told: str,
        reads: Accepts[Any] | None = None,
        *,
        several: bool = False,
        words: Sequence[str] | Callable[[str], Sequence[str]] = (),
        default: str | None = None,
        usual: str | None = None,
        required: bool = False,
    ) -> None:
        self.typed, self.metavar, self.help, self.reads, self.several = typed, metavar, told, reads, several
        self.words, self.default, self.usual, self.required = words, default, usual or default, required
        parts = typed.split()
        self.name = parts[0].lstrip("-").replace("-", "_")
        self.flag = max((part for part in parts if part.startswith("-")), key=len, default="")

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return bool(self.flag) and not self.metavar and not isinstance(self.reads, Choice)

    def read(self, given: Any) -> Any:
        """Read what was typed; None where nothing was.

        >>> from pe_spectra.cli.options import OPTIONS
        >>> OPTIONS["bandwidth"].read(("1,4",)), OPTIONS["grid"].read("300"), OPTIONS["grid"].read(None)
        ((1.0, 4.0), 300, None)
        """
        if given is None or given == ():
            return None
        if self.reads is None:
            return given
        return parse_list(given, self.flag, self.reads.parse) if self.several else self.reads.parse(given, self.flag)

    def build(self, command: str, **settings: Any) -> TyperOption | TyperArgument:
        """Make of it what Typer parses; an option can also be set by a variable, of which help tells once."""
        words = "|".join(self.reads.members) + "..." * self.several if isinstance(self.reads, Choice) else ""
        told = f"{self.help}  [{self.usual}]" if self.usual else self.help
        declared: dict[str, Any] = {"help": told, "metavar": self.metavar or words or None, "show_default": False}
        declared |= {"default": self.default, "autocompletion": lambda _ctx, _args, word: self._complete(word)}
        if not self.flag:
            nargs = -1 if self.several else 1
            return TyperArgument(param_decls=[self.name], required=self.required, nargs=nargs, **declared)
        if not declared["metavar"]:
            declared |= {"is_flag": True, "default": False}
        declared["envvar"] = re.sub("[- ]", "_", f"PE_SPECTRA_{command}_{self.flag.lstrip('-')}").upper()
        flags = [word for word in self.typed.split() if word.startswith("-")]
        return TyperOption(param_decls=[self.name, *flags], multiple=self.several, **declared, **settings)

    def _complete(self, word: str) -> Sequence[str]:
        if callable(self.words):
            return self.words(word)
        words: Any = self.reads.members if isinstance(self.reads, Choice) else self.words
        if isinstance(words, str):
            from pkgutil import resolve_name

            found = resolve_name(words)
            words = found() if callable(found) else found
        return [one for one in words if one.startswith(word)]


class Options(dict[str, Option]):
    """Options by names of their own: some, and those of other modules, which are loaded where one is asked for by [].

    >>> from pe_spectra.cli.options import OPTIONS
    >>> OPTIONS["settings"].flag, OPTIONS["stride"].flag
    ('--settings', '--stride')
    """

    def __init__(self, first: Mapping[str, Option], *modules: str) -> None:
        super().__init__(first)
        self._modules = modules

    def __missing__(self, key: str) -> Option:
        tables = (import_module(f"pe_spectra.cli.{name}").OPTIONS for name in self._modules)
        found: Option | None = next((table[key] for table in tables if key in table), None)
        if found is None:
            raise KeyError(key)
        return found
