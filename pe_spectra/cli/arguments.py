"""How a command line is read: options with several values, in our own words when it is wrong.

`--s 5 40 75` becomes `--s=5 --s=40 --s=75` before Typer sees it, which keeps help, completion and
environment variables Typer's own. An option that takes one value and is given twice, an unknown
option, a missing value or a stray argument is refused here.
"""

from __future__ import annotations

import os
import re
from typing import Any

from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.errors import InputError
from pe_spectra.numbers import Choice, suggest
from pe_spectra.vocabulary import RECIPE_TITLES

_NUMERIC = r"-[0-9.]"
_NUMBER = r"[-+]?\.?[0-9][0-9.eE+:,-]*$"
#: What a variable may set a flag to.
_SWITCHES = ("1", "0", "true", "false", "yes", "no", "on", "off")


def _list_members(option: Any) -> tuple[str, ...]:
    """The words that an option takes several of, where they are a few; empty for another option."""
    words = (option.metavar or "").rstrip(".").split("|")
    return tuple(words) if getattr(option, "multiple", False) and len(words) > 1 else ()


def _is_spec(text: str, *, files: bool = True) -> bool:
    """Whether a word names an encoding of the catalogue, or looks like a file where these count."""
    from pe_spectra.spec import FileSpec, parse_spec

    try:
        spec = parse_spec(text)
    except InputError:
        return False
    return files if isinstance(spec, FileSpec) else spec.name in ENCODING_NAMES


class Rewriter:
    """Writes the arguments of a command as Typer reads them.

    >>> from pe_spectra.cli.declared import Commands
    >>> command = Commands()["reconstruct"]
    >>> Rewriter(command, command.context_class(command)).rewrite(["--s", "5", "40"])
    ['--s=5', '--s=40']
    """

    def __init__(self, command: Any, ctx: Any) -> None:
        parameters = command.get_params(ctx)
        named = [p for p in parameters if p.param_type_name == "option"]
        self.options = {name: p for p in named for name in (*p.opts, *p.secondary_opts)}
        self.arguments = [p for p in parameters if p.param_type_name == "argument"]
        self.seen: dict[str, str] = {}
        #: Arguments that follow the values of an option that takes several of a few words: place, and the option.
        self.behind: dict[int, Any] = {}

    def rewrite(self, tokens: list[str]) -> list[str]:
        """Rewrite the arguments; refuse what is wrong with them, and a variable that sets a flag to nonsense."""
        before = tokens[: tokens.index("--")] if "--" in tokens else tokens
        if "--help" in before or "-h" in before:
            return ["--help"]
        result: list[str] = []
        given: list[str] = []
        latest: Any = None
        while tokens:
            token = tokens.pop(0)
            if token == "--":
                given += tokens
                break
            if not token.startswith("-") or token == "-":
                if latest is not None and _list_members(latest):
                    self.behind[len(given)] = latest
                given.append(token)
                latest = None
            else:
                latest = self.options.get(token.partition("=")[0])
                result += self._read_option(token, tokens)
        self._check_arguments(given)
        for option in self.options.values():
            value = os.environ.get(str(option.envvar), "")
            if getattr(option, "is_flag", False) and value and value.lower() not in _SWITCHES:
                raise InputError(f"{option.envvar} is not known", value, f"accepted: {', '.join(_SWITCHES)}")
        return [*result, "--", *given] if given else result

    def _check_arguments(self, given: list[str]) -> None:
        most = sum(len(given) if p.nargs < 0 else p.nargs for p in self.arguments)
        if len(given) > most:
            self._refuse_members(given, most)
            self._refuse_arguments(given[most:])
        needed = [p for p in self.arguments if p.required]
        if len(given) < len(needed):
            missing = needed[len(given)]
            raise InputError(f"{missing.metavar} is missing", accepted=f"{getattr(missing, 'help', '')}; see --help")

    def _refuse_members(self, given: list[str], most: int) -> None:
        """Refuse what was meant as one more value of an option that takes a few words: the last, or a slip."""
        for place, option in sorted(self.behind.items(), reverse=True):
            members = _list_members(option)
            if place >= most or suggest(given[place], members):
                Choice(members=members).parse(given[place], max(option.opts, key=len))

    def _refuse_arguments(self, tokens: list[str]) -> None:
        if "-e" in self.options and _is_spec(tokens[0]):
            import shlex

            raise InputError("unexpected argument", tokens[0], f"give it with -e: -e {shlex.quote(tokens[0])}")
        single = [name for name in self.seen if name.startswith("--")]
        takes_one = bool(single) and not _list_members(self.options[single[-1]])
        hint = f"{single[-1]} takes one value here; " if takes_one else ""
        takes = f"at most {len(self.arguments)} argument" if self.arguments else "options only"
        raise InputError("unexpected argument", tokens[0] or "''", f"{hint}this command takes {takes}, see --help")

    def _read_option(self, token: str, tokens: list[str]) -> list[str]:
        name, attached = self._split(token)
        option = self.options[name]
        long = max(option.opts, key=len)
        if getattr(option, "is_flag", False):
            if attached is not None:
                raise InputError(f"{name} takes no value", attached or "''", f"{name} alone")
            return [name]
        if attached is None and (not tokens or tokens[0] == "--" or tokens[0].partition("=")[0] in self.options):
            raise InputError(f"{name} has no value", accepted=f"{name} {option.metavar or 'VALUE'} is accepted")
        values = [tokens.pop(0) if attached is None else attached]
        if getattr(option, "multiple", False):
            while attached != "" and tokens and self._looks_like_value(tokens[0], option):
                values.append(tokens.pop(0))
        elif long in self.seen:
            raise InputError(f"{name} is given twice", f"{self.seen[long]} and {values[0]}", "give it once")
        self.seen[long] = values[0]
        return [f"{long}={value}" for value in values]

    def _split(self, token: str) -> tuple[str, str | None]:
        name, equals, value = token.partition("=")
        if name in self.options:
            return name, value if equals else None
        if not token.startswith("--") and token[:2] in self.options:
            return token[:2], token[2:]
        is_encoding = name == "--encoding" or (token.startswith("-e") and not token.startswith("--"))
        if is_encoding and any("SPEC" in (p.metavar or "") for p in self.arguments):
            raise InputError("no such option", name, "give the SPEC without -e")
        names = sorted(name for name in self.options if name.startswith("--"))
        # without the dashes, which make all options alike
        hint = suggest(name.lstrip("-"), [known.lstrip("-") for known in names], "--")
        raise InputError("no such option", name, f"{hint}accepted: {', '.join(names)}")

    def _looks_like_value(self, token: str, option: Any) -> bool:
        if self.arguments:
            # a SPEC or a file may follow: only numbers and members of a closed choice belong to the option
            # (recipes keep their names of release 0.1.0), or names of the catalogue to one of SPECs
            if (option.metavar or "").startswith("SPEC"):
                return _is_spec(token, files=False)
            return bool(re.match(_NUMBER, token)) or RECIPE_TITLES.get(token, token) in _list_members(option)
        return not token.startswith("-") or token == "-" or bool(re.match(_NUMERIC, token))
