"""The commands that look at encodings as a whole: compare them, inspect one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.inputs import check_together, check_work, read_level
from pe_spectra.cli.run import Outcome, Progress, Run, explain_code
from pe_spectra.cli.subject import Subject, takes
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_COMPARED_NUMBERS, MAX_INSPECTED_NUMBERS, MAX_LENGTH
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.vocabulary import CORNER_METHODS, RESIZE_METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pe_spectra.compare import Comparison
    from pe_spectra.encodings import Encoding
    from pe_spectra.inspection.portrait import Portrait
    from pe_spectra.inspection.resize import Resized

_SIDE = IntegerRange(minimum=1, maximum=MAX_LENGTH)
_STEP = "1h"
_OPTIONS = ("d", "rho", "rows", "positions", "start", "step")
#: So many metrics are named where one is not known.
_LISTED = 10
#: What a position costs at least, in columns, whatever the width.
_LEAST_WIDTH = 64
#: The whole catalogue is sorted by this unless --sort names another metric.
_ORDER_OF_ALL = "min_separation"


def add_commands(app: typer.Typer) -> None:
    """Register both commands."""
    register(
        app,
        "compare",
        draws=True,
        examples=(
            "pe-spectra compare sinusoidal dft rope:d=256 --sort kernel_half_width",
            "pe-spectra compare calendar sinusoidal:d=64 --step 1h --periods day,week",
        ),
    )(compare)
    register(
        app,
        "inspect",
        draws=True,
        examples=("pe-spectra inspect sinusoidal:d=64 --length 128", "pe-spectra inspect --explain seam"),
    )(inspect)


def compare(
    run: Run,
    subject: Annotated[Subject, takes(*_OPTIONS, length=options.ComparedLength, specs=options.Specs)],
    all_: Annotated[bool, typer.Option("--all", help="the whole catalogue, random values last")] = False,
    sort: Annotated[str | None, typer.Option("--sort", metavar="METRIC", help="order by a metric, best first")] = None,
    periods: Annotated[
        str | None,
        typer.Option("--periods", metavar="NAME,..", help="periods to look for: day,week or durations such as 12h"),
    ] = None,
    require: options.RequireMetric = None,
) -> Outcome:
    """Encodings side by side: every metric that needs no model, sorted by one of them.

    Spectrum, kernel, invariance, ranks, separation, resolution, probes and extrapolation, each with
    its definition. With --step and --periods lags are times.
    """
    from pe_spectra.answers.comparisons import answer_comparison
    from pe_spectra.cli.requirements import check_metrics, parse_requirements
    from pe_spectra.compare import choose_length, compare_encodings, sort_comparisons
    from pe_spectra.domains import parse_periods

    requirements = parse_requirements(require or [], _list_metrics(sort))
    wanted = parse_periods([periods], "--periods") if periods is not None else ()
    encodings, (seconds, notes) = _collect(subject, all_, timed=bool(wanted))
    size = subject.read_length(encodings)
    sizes = [size or choose_length(encoding) for encoding in encodings]
    check_together("--length and the widths", encodings, sizes, _LEAST_WIDTH, MAX_COMPARED_NUMBERS)
    with Progress("comparing", quiet=run.quiet) as progress:
        compared = compare_encodings(
            encodings, length=size, step_seconds=seconds, periods=wanted, progress=progress.step
        )
        order = sort or (_ORDER_OF_ALL if all_ else None)
        compared = compared if order is None else sort_comparisons(compared, order)
        answer = answer_comparison(compared, order, check_metrics(requirements, compared))
        return run.finish(replace(answer, notes=(*notes, *answer.notes)), lambda: _draw_comparison(compared, order))


def inspect(
    run: Run,
    subject: Annotated[Subject, takes(*_OPTIONS, "length", spec=options.OptionalSpec)],
    resize: Annotated[
        str | None, typer.Option("--resize", metavar="N|HxW", help="what interpolation to another size does")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            autocompletion=options.complete(RESIZE_METHODS),
            show_default=False,
            help=f"how to interpolate: {', '.join(RESIZE_METHODS)}  [bicubic]",
        ),
    ] = "bicubic",
    align_corners: Annotated[
        bool, typer.Option("--align-corners", help="keep the first and last rows in place")
    ] = False,
    fail_on: options.FailOn = None,
    explain: options.Explain = None,
) -> Outcome:
    """The portrait of one encoding or checkpoint table: what is in it, and its known problems.

    Norms, special and duplicate rows, seams, untrained tails, dominant periods, traces of
    interpolation; findings in sentences, each with its number and rows.
    """  # fmt: skip
    from pe_spectra.answers.portraits import answer_portrait
    from pe_spectra.inspection import KINDS

    if explain is not None:
        return explain_code(run, explain, KINDS, subject.encoding or ())
    if not subject.encoding:
        raise InputError("SPEC is missing", accepted="an encoding, or a file with a table; see --help")
    level = read_level(fail_on)
    how = Choice(members=RESIZE_METHODS).parse(method, "--method")
    new = _read_size(resize) if resize is not None else None
    encodings = subject.build()
    size = subject.read_length(encodings)
    from pe_spectra.inspection.portrait import draw_portrait, is_given

    if not is_given(encodings[0]):  # what a file holds is there already, and is looked at as far as possible
        numbers = (size or encodings[0].default_length) * int(getattr(encodings[0], "d", 1))
        check_work("--length and the width", numbers, MAX_INSPECTED_NUMBERS)
    with Progress("looking at rows and spectra", quiet=run.quiet):
        resized = _resize(encodings[0], new, how, align_corners, size)
        portrait = draw_portrait(encodings[0], length=size, resized=resized)
        return run.finish(answer_portrait(portrait, level), lambda: _draw_portrait(portrait))


def _collect(
    subject: Subject, every: bool, *, timed: bool
) -> tuple[tuple[Encoding, ...], tuple[int | None, tuple[str, ...]]]:
    """The encodings that were named, or all of the catalogue by default, and the time between their positions.

    Where lags are times --step suits all of them.
    """
    specs = subject.encoding
    if every and specs:
        raise InputError("--all and SPEC exclude each other", specs[0], "one of them")
    if not every and not specs:
        raise InputError("SPEC is missing", accepted="encodings or files, or --all; see --help")
    whole = replace(subject, positions=None)
    if not every:
        from pe_spectra.sources import has_option

        if timed and not has_option(specs or (), "step", "SPEC"):
            whole = replace(whole, step=None)
    else:
        from pe_spectra.encodings import ENCODINGS

        others = {name: getattr(subject, name) for name in ("d", "rho", "rows", "start", "step")}
        given = [name for name, value in others.items() if value is not None and not (timed and name == "step")]
        if given:
            raise InputError(f"--{given[0]} has no meaning with --all", str(others[given[0]]), "leave it out")
        names = [cls.name if cls.name != "learned" else "learned:init=normal" for cls in ENCODINGS]
        whole = replace(whole, encoding=names)
    named = whole.build()
    settled = _settle_step(named, subject.step, timed=timed)
    return subject.sample(named), settled


def _settle_step(encodings: Sequence[Encoding], step: str | None, *, timed: bool) -> tuple[int | None, tuple[str, ...]]:
    """Seconds between positions, where lags are times, and a note where nothing says how many."""
    from pe_spectra.domains import Duration, read_duration
    from pe_spectra.encodings.calendar import Calendar

    if step is not None:
        return read_duration(Duration().parse(step, "--step")), ()
    if not timed:
        return None, ()
    steps = {e.step: read_duration(e.step) for e in encodings if isinstance(e, Calendar)}
    if len(set(steps.values())) > 1:
        raise InputError("--periods: the time between positions differs", ", ".join(steps), "one step for all of them")
    if steps:
        return next(iter(steps.values())), ()
    return read_duration(_STEP), (f"--periods: positions are taken to be {_STEP} apart; --step says otherwise",)


def _list_metrics(name: str | None) -> tuple[str, ...]:
    """List the metrics; refuse a name that is none of them: of the many that there are, the nearest are named."""
    from pe_spectra.metrics import METRICS

    known = tuple(METRICS)
    if name is None or name in known:
        return known
    from difflib import get_close_matches

    near, hint = list(known), ""
    if len(name) <= max(map(len, known)):  # beyond that nothing is near, and the comparison would take its time
        hint = "".join(f"did you mean {one}? " for one in get_close_matches(name, known, n=1))
        near = [*(one for one in known if name and name in one), *get_close_matches(name, known, n=_LISTED, cutoff=0)]
    listed = ", ".join([*dict.fromkeys([*near, *known])][:_LISTED])
    accepted = f"{hint}accepted: {listed}, or another of {len(known)} (columns of --format csv)"
    raise InputError("--sort is not known", name or "''", accepted)


def _read_size(text: str) -> tuple[int, ...]:
    parts = text.split("x")
    if len(parts) > 2 or "" in parts:
        raise InputError("--resize is no size", text or "''", "N, or HxW for a grid, is accepted")
    return tuple(_SIDE.parse(part, "--resize") for part in parts)


def _resize(
    encoding: Encoding, new: tuple[int, ...] | None, method: str, align_corners: bool, length: int | None
) -> Resized | None:
    if new is None:
        if align_corners:
            raise InputError("--align-corners has no meaning without --resize", accepted="--resize N or HxW")
        return None
    if align_corners and method not in CORNER_METHODS:
        raise InputError("--align-corners has no meaning with this --method", method, ", ".join(CORNER_METHODS))
    from pe_spectra.inspection.resize import resize_encoding

    return resize_encoding(encoding, new, method=method, align_corners=align_corners, length=length)


def _draw_comparison(compared: Sequence[Comparison], sorted_by: str | None) -> Figure:
    from pe_spectra.plots.comparison import compose_comparison

    return compose_comparison(compared, sorted_by)


def _draw_portrait(portrait: Portrait) -> Figure:
    from pe_spectra.plots.inspection import compose_portrait

    return compose_portrait(portrait)
