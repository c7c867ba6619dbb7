"""How a command is registered: its own options, the shared ones, examples, and the origin of values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from pe_spectra.cli import options
from pe_spectra.cli.arguments import PaperCommand
from pe_spectra.cli.inputs import refuse_overwriting
from pe_spectra.cli.run import Outcome, Run, prepare_run
from pe_spectra.cli.settings import load_settings, note_unknown_variables
from pe_spectra.cli.subject import join_subject
from pe_spectra.errors import FileError, InputError

Settings = Annotated[
    str | None,
    typer.Option(
        "--settings", metavar="FILE", is_eager=True, callback=load_settings,
        help="defaults from a TOML file: flat keys, or a [command] table",
    ),
]  # fmt: skip
_TEXT: dict[str, Any] = {"quiet": options.Quiet, "color": options.Colour, "settings": Settings}
_DATA: dict[str, Any] = {"form": options.Format, "json": options.Json, "output": options.Output, "full": options.Full}
_FIGURE: dict[str, Any] = {
    "figure": options.FigurePath,
    "no_figure": options.NoFigure,
    "style": options.Style,
    "width": options.FigureWidth,
    "height": options.FigureHeight,
    "dpi": options.Dpi,
    "no_title": options.NoTitle,
    "no_caption": options.NoCaption,
}
_FLAGS = ("json", "full", "no_figure", "no_title", "no_caption", "quiet")
#: Options and arguments that may name a file to read.
_MAY_NAME_FILES = ("encoding", "spec", "specs", "name", "positions", "configs", "sides")
#: Options that exclude each other: where one was set closer to the command line, it wins.
_RIVALS = (("json", "form"), ("figure", "no_figure"))
_RANKS = {"COMMANDLINE": 3, "ENVIRONMENT": 2, "DEFAULT_MAP": 1}

Body = Callable[..., Outcome]


def register(
    app: typer.Typer,
    name: str,
    *,
    examples: tuple[str, ...],
    answers: bool = True,
    lists: bool = False,
    figure: str = "",
    draws: bool = False,
) -> Callable[[Body], Body]:
    """Register a command: its function gets a checked :class:`~pe_spectra.cli.run.Run` and its own options.

    Parameters
    ----------
    examples : command lines that `--help` shows; the tests run them.
    answers : whether it has the options for data (--format, --json, --output, --full).
    lists : whether a command without these has --full.
    figure : where it draws unless told otherwise; empty for a command that does so only when told.
    draws : whether a command without such a place has the options for a figure.
    """
    data = _DATA if answers else {"full": options.Full} if lists else {}
    shared = {**data, **(_FIGURE if figure or draws else {}), **_TEXT}

    def decorate(body: Body) -> Body:
        lines = "\n".join(f"  {example}" for example in examples)
        app.command(name, cls=PaperCommand, epilog=f"\b\nExamples:\n{lines}", short_help=_first_line(body))(
            _join_options(body, shared, figure)
        )
        return body

    return decorate


def _join_options(body: Body, shared: Mapping[str, Any], figure: str) -> Callable[..., Outcome]:
    """Return the function that Typer sees: with the command's own options first, then the shared ones."""
    hints = get_type_hints(body, include_extras=True)
    own = dict(inspect.signature(body).parameters)
    takes_run = own.pop("run", None) is not None
    subject: Mapping[str, Any] = get_args(hints["subject"])[1] if "subject" in own else {}

    def command(ctx: typer.Context, **values: Any) -> Outcome:
        values.pop("settings")
        mine = {name: values.pop(name) for name in [*own, *subject] if name != "subject"}
        _settle_rivals(values, ctx)
        try:
            run = prepare_run(default_figure=figure, **values)
            _protect_inputs(run, mine, ctx.params.get("settings"))
            if subject:
                mine["subject"] = join_subject({name: mine.pop(name) for name in subject})
            outcome = body(run, **mine) if takes_run else body(**mine)
        except (InputError, FileError) as error:
            raise _name_origin(error, ctx) from error
        notes = () if run.quiet else note_unknown_variables(ctx)
        return replace(outcome, messages=(*notes, *outcome.messages))

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("ctx", keyword, annotation=typer.Context)]
    for name, own_parameter in own.items():
        if name != "subject":
            parameters.append(own_parameter.replace(kind=keyword, annotation=hints[name]))
            continue
        for inner, hint in subject.items():  # what may be left out may be None
            default = inspect.Parameter.empty if get_args(hint)[0] is str else None
            parameters.append(inspect.Parameter(inner, keyword, default=default, annotation=hint))
    for name, annotation in shared.items():
        parameters.append(
            inspect.Parameter(name, keyword, default=False if name in _FLAGS else None, annotation=annotation)
        )
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__doc__ = body.__doc__
    return command


def _protect_inputs(run: Run, mine: Mapping[str, Any], settings: str | None) -> None:
    """Refuse, before any work, to write over a file that is read."""
    own = mine.get("output")
    figure = "--figure" if run.figure_asked else "the figure"
    outputs = {"--output": run.output or (Path(own) if own else None), figure: run.figure}
    named = [mine[name] for name in _MAY_NAME_FILES if mine.get(name)] + ([settings] if settings else [])
    texts = [text for value in named for text in ([value] if isinstance(value, str) else value)]
    refuse_overwriting(outputs, texts)


def _first_line(body: Body) -> str:
    # empty under python -OO, which strips docstrings
    return (body.__doc__ or "").strip().partition("\n")[0]


def _settle_rivals(values: dict[str, Any], ctx: typer.Context) -> None:
    for first, second in _RIVALS:
        if values.get(first) and values.get(second):
            ranks = [_RANKS.get(getattr(ctx.get_parameter_source(name), "name", ""), 0) for name in (first, second)]
            if ranks[0] != ranks[1]:
                loser = first if ranks[0] < ranks[1] else second
                values[loser] = False if loser in _FLAGS else None


def _name_origin(error: InputError | FileError, ctx: typer.Context) -> InputError | FileError:
    """Where a value came from a variable or a settings file, say so in place of the option's name."""
    for parameter in ctx.command.params:
        if parameter.param_type_name != "option":
            continue
        option = max(parameter.opts, key=len)
        source = getattr(ctx.get_parameter_source(str(parameter.name)), "name", "")
        file, key = ctx.params.get("settings"), option.lstrip("-")
        if isinstance(error, FileError):
            origins = {"ENVIRONMENT": f"({parameter.envvar})", "DEFAULT_MAP": f"({key} in {file})"}
            if source in origins and f"({option})" in error.reason:
                return FileError(error.path, error.reason.replace(f"({option})", origins[source]))
        elif re.match(rf"{option}(?![a-z-])", error.what):
            rest = str(error)[len(option) :]
            if source == "ENVIRONMENT":
                return InputError(f"{parameter.envvar}{rest}")
            if source == "DEFAULT_MAP":
                return FileError(file, f"{key}{rest}")
    return error
