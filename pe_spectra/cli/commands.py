"""Every command, once: what it takes, where it draws, examples; and how one is run within the shared options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, partial
from importlib import import_module
from inspect import getdoc
from typing import Any

from typer.core import TyperCommand

from pe_spectra.cli.arguments import PaperGroup, Rewriter, fit_terminal
from pe_spectra.cli.declaring import Declaration
from pe_spectra.cli.options import OPTIONS
from pe_spectra.cli.run import Outcome, prepare_run, refuse_overwriting
from pe_spectra.cli.settings import add_notes, load_settings, note_unknown_variables
from pe_spectra.cli.subject import Subject
from pe_spectra.errors import FileError, InputError

#: What commands share: those that draw, all.
_FIGURE = "figure no_figure style width height dpi no_title no_caption"
_TEXT = "quiet color settings"
#: Options and arguments that may name a file to read.
_MAY_NAME_FILES = (
    *("encoding", "spec", "specs", "name", "positions", "config", "configs", "sides"),
    *("settings", "arms", "over", "results"),
)
#: Options that exclude each other: where one was set closer to the command line, it wins.
_RIVALS = (("json", "form"), ("figure", "no_figure"), ("resume", "no_resume"))
_RANKS = {"COMMANDLINE": 3, "ENVIRONMENT": 2, "DEFAULT_MAP": 1}
#: Words that several commands share as their first.
FAMILIES: Mapping[str, str] = {"experiment": "Does an encoding matter to a network that learns?"}

COMMANDS: Mapping[str, Declaration] = {
    "spectrum": Declaration(
        module="paper",
        takes="encoding d rho rows start step positions length:averaged grid bandwidth boundary",
        figure="figures/spectrum.png",
        examples=(
            "pe-spectra spectrum --d 256 --rho 10000",
            "pe-spectra spectrum --boundary reflect --bandwidth 1 4 16",
        ),
    ),
    "reconstruct": Declaration(
        module="paper",
        takes="encoding d rho rows start step length:averaged s grid bandwidth boundary window_free",
        figure="figures/reconstruction.png",
        examples=("pe-spectra reconstruct --s 5 40 75", "pe-spectra reconstruct --s 40 --bandwidth 0.25 1 4 16 64"),
    ),
    "faithfulness": Declaration(
        module="paper",
        takes="encoding d rho rows start step length:together positions limit within require",
        figure="",
        examples=("pe-spectra faithfulness --length 80", "pe-spectra faithfulness -e dft:d=256 --length 300"),
    ),
    "count-low-bin": Declaration(
        module="paper",
        takes="encoding d:several rho:several length:edge",
        figure="",
        examples=("pe-spectra count-low-bin --d 256 512 --rho 10000", "pe-spectra count-low-bin --d 128 --length 4096"),
    ),
    "figures": Declaration(
        module="listings",
        takes="check output:folder grid:figures",
        data="full",
        examples=("pe-spectra figures --output figures", "pe-spectra figures --check"),
    ),
    "claims": Declaration(
        module="listings",
        takes="claim source check",
        examples=("pe-spectra claims fig2-width-30", "pe-spectra claims --source paper --check --json"),
    ),
    "schema": Declaration(module="listings", data="", examples=("pe-spectra schema",)),
    "encodings": Declaration(
        module="listings",
        takes="name",
        examples=("pe-spectra encodings", "pe-spectra encodings rope", "pe-spectra encodings --json"),
    ),
    "export": Declaration(
        module="exporting",
        takes="d rho length rows positions start step spec output:array what resize:export method align_corners",
        data="",
        examples=(
            "pe-spectra export sinusoidal:d=64 --output table.npy",
            "pe-spectra export sinusoidal:d=64 --length 64 --resize 128 --output longer.npy",
            "pe-spectra export alibi:heads=8 --length 16 --output -",
        ),
    ),
    "compare": Declaration(
        module="inspecting",
        takes="d rho rows positions start step length:all specs all sort periods require:metric",
        figure="",
        examples=(
            "pe-spectra compare sinusoidal dft rope:d=256 --sort kernel_half_width",
            "pe-spectra compare calendar sinusoidal:d=64 --step 1h --periods day,week",
        ),
    ),
    "inspect": Declaration(
        module="inspecting",
        takes="d rho rows positions start step length spec:optional resize method align_corners fail_on explain",
        figure="",
        examples=("pe-spectra inspect sinusoidal:d=64 --length 128", "pe-spectra inspect --explain seam"),
    ),
    "audit": Declaration(
        module="auditing",
        takes="configs trained:audit served:audit allocated fail_on explain:completed",
        figure="",
        examples=(
            "pe-spectra audit config.json",
            "pe-spectra audit config.json --served 131072 --fail-on warning",
            "pe-spectra audit --explain unseen-phases",
        ),
    ),
    "diff": Declaration(
        module="diff",
        takes="sides stack all_stacks trained served allocated check:found strict",
        examples=(
            "pe-spectra diff hf/config.json port/inv_freq.npy",
            "pe-spectra diff config.json --stack transformers-5,vllm",
            "pe-spectra diff --all-stacks config.json",
        ),
    ),
    "stacks": Declaration(module="listings", examples=("pe-spectra stacks", "pe-spectra stacks --json")),
    "context": Declaration(
        module="lengthening",
        takes="config d:head base trained:context target stack:one write",
        figure="",
        examples=(
            "pe-spectra context config.json --target 131072",
            "pe-spectra context --d 128 --base 500000 --trained 8192 --target 131072",
            "pe-spectra context --d 128 --target 131072",
        ),
    ),
    "precision": Declaration(
        module="inspecting",
        takes="d rho length start_position positions rows spec dtype recipe embedding require:codes",
        figure="",
        examples=(
            "pe-spectra precision sinusoidal --length 8192 --dtype bfloat16",
            "pe-spectra precision rope:base=500000 --length 8192 --recipe fp32-then-cast",
            "pe-spectra precision alibi --length 256 --dtype bfloat16 --require injective",
        ),
    ),
    "experiment run": Declaration(
        module="experimenting",
        takes="tasks arms norms seeds lengths workers quick output:results resume no_resume",
        data="format json full",
        figure="",
        examples=(
            "pe-spectra experiment run --quick --output results.csv --figure learning.png",
            "pe-spectra experiment run --tasks lag --arms none sinusoidal dft --output results.csv",
        ),
    ),
    "experiment report": Declaration(
        module="reporting", takes="results by_number", figure="", examples=("pe-spectra experiment report results.csv",)
    ),
    "experiment check": Declaration(
        module="reporting", takes="results runs seed", examples=("pe-spectra experiment check results.csv --runs 3",)
    ),
    "experiment data": Declaration(
        module="reporting",
        takes="data label arms norms seeds length:window stride quick",
        examples=("pe-spectra experiment data --data table:pump.csv --label state=broken --arms sinusoidal dft",),
    ),
    "sweep": Declaration(
        module="sweeping",
        takes="command over grid:sweep workers output:sweep",
        data="format json full",
        examples=(
            "pe-spectra sweep count-low-bin --grid d=64,128,256 --grid rho=100:1000:100 --output sweep.csv",
            "pe-spectra sweep faithfulness dft:d=64 sinusoidal:d=64 --grid length=16:64:16 --output sweep.csv",
        ),
    ),
}
#: What writes a file that grows, beside the families.
_GROWING = ("sweep",)


class DeclaredCommand(TyperCommand):
    """A command as it is declared; its function gets a checked run, its subject if it has one, and its own options."""

    def __init__(self, name: str) -> None:
        declared = COMMANDS[name]
        function = getattr(import_module(f"pe_spectra.cli.{declared.module}"), re.sub("[- ]", "_", name))
        shared = [*declared.data.split(), *(_FIGURE.split() if declared.figure is not None else ()), *_TEXT.split()]
        options = [OPTIONS[key] for key in (*declared.takes.split(), *shared)]
        settings = {"settings": {"is_eager": True, "callback": load_settings}}
        super().__init__(
            name,
            params=[option.build(name, **settings.get(option.name, {})) for option in options],
            help=getdoc(function),
            epilog="\n".join(("\b", "Examples:", *(f"  {example}" for example in declared.examples))),
            # empty under python -OO, which strips docstrings
            short_help=(getdoc(function) or "").partition("\n")[0],
            rich_markup_mode=None,
        )
        self._function: Callable[..., Outcome] = function
        self._options = options
        self._own = len(options) - len(shared)
        self._figure = declared.figure or ""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, also on a narrow terminal."""
        fit_terminal(formatter)
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rewrite the arguments, then let Typer parse them; completion sees them as they were typed."""
        return super().parse_args(ctx, args if ctx.resilient_parsing else Rewriter(self, ctx).rewrite(list(args)))

    def invoke(self, ctx: Any) -> Outcome:
        """Check the shared options, run the function, and say where a value that it refuses came from."""
        typed: dict[str, Any] = dict(ctx.params)
        notes = () if typed["quiet"] else note_unknown_variables(ctx)
        try:
            _settle_rivals(typed, ctx)
            values = {option.name: option.read(typed[option.name]) for option in self._options}
            own = {option.name: values.pop(option.name) for option in self._options[: self._own]}
            values.pop("settings")
            run = prepare_run(default_figure=self._figure, typed=self._list_typed(typed), **values)
            figure = "--figure" if run.figure_asked else "the figure"
            written = {"--output": run.output or own.get("output"), figure: run.figure, "--write": own.get("write")}
            if any(written.values()):
                texts = [typed[name] for name in _MAY_NAME_FILES if typed.get(name)]
                refuse_overwriting(written, [t for one in texts for t in ([one] if isinstance(one, str) else one)])
            outcome = self._function(run, **_join_subject(own))
        except (InputError, FileError) as error:
            raise add_notes(_name_origin(error, ctx), notes) from error
        return replace(outcome, messages=(*notes, *outcome.messages))

    def _list_typed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Its own options as they were typed, None for those that say what is so without them.

        What a width and a base are without an option is that of the default encodings alone.
        """
        typed: dict[str, Any] = {}
        for option in self._options[: self._own]:
            if option.flag:
                value, is_open = values[option.name], option.name in ("d", "rho") and values.get("encoding")
                is_usual = not is_open and value in (option.usual, (option.usual,))
                typed[option.name] = None if is_usual else value or None
        return typed


class Commands(Mapping[str, DeclaredCommand]):
    """The commands by their names, or those of a family by their second words; each made when it is asked for.

    >>> list(Commands("experiment"))
    ['run', 'report', 'check', 'data']
    """

    def __init__(self, family: str = "") -> None:
        self._family = family

    def __iter__(self) -> Iterator[str]:
        for name in COMMANDS:
            family, _, last = name.rpartition(" ")
            if family == self._family and name not in _GROWING:
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
#: What else the first word may be, a family of commands or one that fills a file: what makes it.
OTHERS: Mapping[str, Callable[[], Any]] = {
    **{name: partial(_make_family, name) for name in FAMILIES},
    **{name: partial(_make_command, name) for name in _GROWING},
}


def _join_subject(values: Mapping[str, Any]) -> dict[str, Any]:
    """Join what names and places encodings in one value, where a command takes encodings."""
    naming = next((name for name in ("encoding", "spec", "specs") if name in values), None)
    if naming is None:
        return dict(values)
    named = values[naming]
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
