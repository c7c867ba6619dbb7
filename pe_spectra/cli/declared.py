"""The program and its commands, as they are declared: each is made when it is asked for, and loaded when it is used."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_install_completion_arguments

from pe_spectra.cli.commands import COMMANDS, FAMILIES
from pe_spectra.cli.program import NAME, TEXTS, print_text
from pe_spectra.errors import FileError, InputError

if TYPE_CHECKING:
    from pe_spectra.cli.declaring import Option
    from pe_spectra.cli.run import Outcome

#: What commands share: those that draw, all.
_FIGURE = "figure no_figure style width height dpi no_title no_caption"
_TEXT = "quiet color settings"
#: Options and arguments that may name a file to read.
_MAY_NAME_FILES = (
    *("encoding", "spec", "specs", "name", "positions", "config", "configs", "sides"),
    *("settings", "arms", "over", "results", "items", "against", "file"),
)
#: Options that exclude each other: where one was set closer to the command line, it wins.
_RIVALS = (("json", "form"), ("figure", "no_figure"), ("resume", "no_resume"))
_RANKS = {"COMMANDLINE": 3, "ENVIRONMENT": 2, "DEFAULT_MAP": 1}
#: On narrower terminals the help of an option stands below its name.
_NARROW = 60
#: Columns before the second line of a placeholder.
_DEEPER = 6
_HELP = """Which frequencies a positional encoding has, whether it distinguishes positions, and what it blurs.

Each option of a command can also be set by a variable, PE_SPECTRA_COMMAND_OPTION, or by
--settings FILE.toml; the command line wins. PE_SPECTRA_NO_FIGURE=1 leaves out every figure that
was not asked for.
"""
_EPILOG = """\b
Examples:
  pe-spectra spectrum --d 256 --rho 10000
  pe-spectra reconstruct --s 5 40 75
  pe-spectra figures --check"""


class DeclaredCommand(TyperCommand):
    """A command as it is declared; its function gets a checked run, its subject if it has one, and its own options."""

    def __init__(self, name: str) -> None:
        declared = COMMANDS[name]
        self._parameters: list[Any] = []
        self._declared = declared
        self._shared = [*declared.data.split(), *_FIGURE.split() * (declared.figure is not None), *_TEXT.split()]
        self._full_name = name
        super().__init__(
            name,
            epilog="\n".join(("\b", "Examples:", *(f"  {example}" for example in declared.examples))),
            short_help=declared.summary,
            rich_markup_mode=None,
        )

    @property
    def params(self) -> list[Any]:
        """Its options and arguments, made when they are first asked for: help of the program names commands only."""
        if not self._parameters:
            from pe_spectra.cli.settings import load_settings

            settings = {"settings": {"is_eager": True, "callback": load_settings}}
            self._parameters = [one.build(self._full_name, **settings.get(one.name, {})) for one in self._load()[1]]
        return self._parameters

    @params.setter
    def params(self, made: list[Any]) -> None:
        self._parameters = made

    def _load(self) -> tuple[Callable[..., Outcome], list[Option]]:
        """Load the function and what it takes, its own options before those that commands share."""
        from pe_spectra.cli.options import OPTIONS

        module = import_module(f"pe_spectra.cli.{self._declared.module}")
        options = [OPTIONS[key] for key in (*self._declared.takes.split(), *self._shared)]
        return getattr(module, re.sub("[- ]", "_", self._full_name)), options

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, also on a narrow terminal."""
        # python -OO strips docstrings
        self.help = "\n\n".join(filter(None, (self._declared.summary, getdoc(self._load()[0]))))
        fit_terminal(formatter)
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rewrite the arguments, then let Typer parse them; completion sees them as they were typed."""
        if not ctx.resilient_parsing:
            from pe_spectra.cli.arguments import Rewriter

            args = Rewriter(self, ctx).rewrite(list(args))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Outcome:
        """Check the shared options, run the function, and say where a value that it refuses came from."""
        from pe_spectra.cli.run import prepare_run, refuse_overwriting
        from pe_spectra.cli.settings import add_notes, note_unknown_variables

        typed: dict[str, Any] = dict(ctx.params)
        function, options = self._load()
        notes = () if typed["quiet"] else note_unknown_variables(ctx)
        try:
            _settle_rivals(typed, ctx)
            values = {option.name: option.read(typed[option.name]) for option in options}
            own = {option.name: values.pop(option.name) for option in options[: -len(self._shared)]}
            values.pop("settings")
            asked = _list_typed(options[: -len(self._shared)], typed)
            run = prepare_run(default_figure=self._declared.figure or "", typed=asked, **values)
            figure = "--figure" if run.figure_asked else "the figure"
            written = {"--output": run.output or own.get("output"), figure: run.figure, "--write": own.get("write")}
            if any(written.values()):
                texts = [typed[name] for name in _MAY_NAME_FILES if typed.get(name)]
                refuse_overwriting(written, [t for one in texts for t in ([one] if isinstance(one, str) else one)])
            outcome = function(run, **_join_subject(own))
        except (InputError, FileError) as error:
            raise add_notes(_name_origin(error, ctx), notes) from error
        return outcome._replace(messages=(*notes, *outcome.messages))


def _list_typed(options: Sequence[Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command as they were typed, None for those that say what is so without them.

    What a width and a base are without an option is that of the default encodings alone.
    """
    typed: dict[str, Any] = {}
    for option in options:
        if option.flag:
            value, is_open = values[option.name], option.name in ("d", "rho") and values.get("encoding")
            is_usual = not is_open and value in (option.usual, (option.usual,))
            typed[option.name] = None if is_usual else value or None
    return typed


def fit_terminal(formatter: Any) -> None:
    """Let help be written for a narrow terminal, too, and break placeholders that are too long for a line."""
    columns = shutil.get_terminal_size((80, 24)).columns
    write_list, settings = formatter.write_dl, {}
    if columns < _NARROW:
        formatter.width, settings = max(columns, 30), {"col_max": 4}

    def write_fitted(rows: Any, **_: object) -> None:
        write_list([(_break_members(name, formatter.width - _DEEPER), text) for name, text in rows], **settings)

    formatter.write_dl = write_fitted


def _break_members(name: str, width: int) -> str:
    """Continue a placeholder of many words, `a|b|c`, on lines of its own where one is too short for it."""
    lines = [""]
    for part in re.split(r"(?<=\|)", name):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return ("\n" + " " * _DEEPER).join(lines)


def _join_subject(values: Mapping[str, Any]) -> dict[str, Any]:
    """Join what names and places encodings in one value, where a command takes encodings."""
    naming = next((name for name in ("encoding", "spec", "specs") if name in values), None)
    if naming is None:
        return dict(values)
    named = values[naming]
    from dataclasses import fields

    from pe_spectra.cli.subject import Subject

    inner = {field.name: values[field.name] for field in fields(Subject) if field.name in values}
    inner["encoding"] = [named] if isinstance(named, str) else named
    subject = Subject(label="--encoding" if naming == "encoding" else "SPEC", **inner)
    return {"subject": subject, **{name: value for name, value in values.items() if name not in (*inner, naming)}}


def _settle_rivals(values: dict[str, Any], ctx: Any) -> None:
    for names in _RIVALS:
        if all(values.get(name) for name in names):
            ranks = [_RANKS.get(getattr(ctx.get_parameter_source(name), "name", ""), 0) for name in names]
            if ranks[0] != ranks[1]:
                loser = names[ranks[0] > ranks[1]]
                values[loser] = False if values[loser] is True else None


def _name_origin(error: InputError | FileError, ctx: Any) -> InputError | FileError:
    """Where a value came from a variable or a settings file, say so in place of the option's name."""
    file = ctx.params.get("settings")
    for parameter in ctx.command.params:
        option = max(parameter.opts, key=len)
        source = getattr(ctx.get_parameter_source(parameter.name), "name", "")
        if not option.startswith("-") or source not in ("ENVIRONMENT", "DEFAULT_MAP"):
            continue
        key = parameter.envvar if source == "ENVIRONMENT" else option.lstrip("-")
        if isinstance(error, FileError):
            if f"({option})" in error.reason:
                origin = key if source == "ENVIRONMENT" else f"{key} in {file}"
                return FileError(error.path, error.reason.replace(f"({option})", f"({origin})"))
        elif re.match(rf"{option}(?![a-z-])", error.what):
            text = f"{key}{str(error)[len(option) :]}"
            return InputError(text) if source == "ENVIRONMENT" else FileError(file, text)
    return error


class PaperGroup(TyperGroup):
    """The program, or a family of commands: suggests the nearest command for one that does not exist."""

    commands: Any  # a mapping: Typer would change what it holds, if it were asked to
    families: Mapping[str, Callable[[], Any]] = {}  # what makes a group, or a command

    def every(self) -> dict[str, Any]:
        """Return every command by its full name, those of families, too."""
        found = dict(self.commands)
        for family, make in self.families.items():
            inner = group.every() if isinstance(group := make(), PaperGroup) else {"": group}
            found |= {f"{family} {name}".rstrip(): command for name, command in inner.items()}
        return found

    def list_commands(self, ctx: Any) -> list[str]:
        """List the words that may come next."""
        return [*super().list_commands(ctx), *self.families]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse unknown options of the program in our own words."""
        first = args[0] if args else "--help"
        if not ctx.resilient_parsing and first.startswith("-") and first != "--":
            known = sorted({name for p in self.get_params(ctx) for name in p.opts})
            if first.partition("=")[0] not in known:
                raise InputError("no such option", first, f"accepted: {', '.join(known)}, or a command first")
        return super().parse_args(ctx, args or ["--help"])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name.

        Raises
        ------
        InputError : there is none; the message has the nearest name and all there are.
        """
        found = self.families[cmd_name]() if cmd_name in self.families else super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            from pe_spectra.numbers import suggest

            names = self.list_commands(ctx)
            accepted = f"{suggest(cmd_name, names)}accepted: {', '.join(names)}"
            raise InputError("no such command", cmd_name or "''", accepted)
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, also on a narrow terminal."""
        fit_terminal(formatter)
        super().format_help(ctx, formatter)


class Commands(Mapping[str, DeclaredCommand]):
    """The commands by their names, or those of a family by their second words; each made when it is asked for.

    >>> list(Commands("experiment"))
    ['run', 'report', 'check', 'data']
    """

    def __init__(self, family: str = "") -> None:
        self._family = family

    def __iter__(self) -> Iterator[str]:
        for name, declared in COMMANDS.items():
            family, _, last = name.rpartition(" ")
            if family == self._family and declared.repeats:
                yield last

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> DeclaredCommand:
        if " " in name:
            raise KeyError(name)
        return _make_command(f"{self._family} {name}".lstrip())


def _make_family(name: str) -> PaperGroup:
    group = PaperGroup(name=name, help=FAMILIES[name], short_help=FAMILIES[name], rich_markup_mode=None)
    group.commands = Commands(name)
    return group


_make_command = cache(DeclaredCommand)


def find_command(name: str) -> DeclaredCommand:
    """Return the command of a full name, as `experiment report`.

    >>> find_command("audit").name
    'audit'
    """
    return _make_command(name)


_FIRST = Commands()
#: What else the first word may be, a family of commands or one whose answer does not repeat: what makes it.
OTHERS: Mapping[str, Callable[[], Any]] = {
    **{name: partial(_make_family, name) for name in FAMILIES},
    **{name: partial(_make_command, name) for name, declared in COMMANDS.items() if not declared.repeats},
}


def build_command() -> Any:
    """Return the program as Typer runs it; each command is made when it is asked for.

    Its own options have no variables: one must not turn every command into --version.
    """

    def answer(ctx: Any, option: Any, wanted: bool) -> None:
        if wanted:
            print_text(option.name)
            ctx.exit()

    flag: dict[str, Any] = {"is_flag": True, "default": False, "is_eager": True, "show_default": False}
    flag |= {"expose_value": False, "callback": answer}
    own: list[Any] = [TyperOption(param_decls=[one, f"--{one}"], help=said, **flag) for one, said in TEXTS.items()]
    program = PaperGroup(
        name=NAME,
        params=[*own, *get_install_completion_arguments()],
        help=_HELP,
        epilog=_EPILOG,
        context_settings={"help_option_names": ["--help", "-h"]},
        rich_markup_mode=None,
    )
    program.commands, program.families = _FIRST, OTHERS
    return program
