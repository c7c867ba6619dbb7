"""The commands that look at encodings as a whole: compare them, inspect one, round one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.cli.subject import Subject, check_together, check_work, list_undecided
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_COMPARED_NUMBERS, MAX_INSPECTED_NUMBERS, MAX_LENGTH
from pe_spectra.numbers import IntegerRange, suggest
from pe_spectra.vocabulary import COMMON_DTYPES, CORNER_METHODS, RECIPE_TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from pe_spectra.encodings import Encoding
    from pe_spectra.inspection.resize import Resized
    from pe_spectra.metrics.compare import Comparison
    from pe_spectra.precision.rounding_report import PrecisionReport
    from pe_spectra.vocabulary import Level

_SIDE = IntegerRange(minimum=1, maximum=MAX_LENGTH)
_STEP = "1h"
#: So many columns are named where one is not known.
_LISTED = 10


def compare(
    run: Run,
    subject: Subject,
    every: bool,
    sort: str | None,
    periods: str | None,
    require: Sequence[str] | None,
) -> Outcome:
    """Spectrum, kernel, invariance, ranks, separation, resolution, probes and extrapolation, each with
    its definition. With --step and --periods lags are times.
    """
    from pe_spectra.answers.answer import gather_notes
    from pe_spectra.answers.comparisons import answer_comparison
    from pe_spectra.cli.requirements import check_requirements, parse_requirements
    from pe_spectra.metrics.compare import compare_encodings, list_numbers, sort_comparisons

    wanted = () if periods is None else _parse_periods(periods)
    names = [name for name, _ in wanted]
    order = _read_order(sort, names)
    requirements = parse_requirements(require or [], list_numbers(names))
    encodings, missing = _collect(subject, every, timed=bool(wanted))
    _check_compared(encodings, subject.length)
    seconds, notes = _settle_step(encodings, subject.step, timed=bool(wanted))
    with run.progress("comparing") as progress:
        measured = compare_encodings(
            encodings, length=subject.length, step_seconds=seconds, periods=wanted, progress=progress, missing=missing
        )
        compared = sort_comparisons(measured, order)
        found = [*map(_list_demanded, compared), *list_undecided(missing)]
        answer = answer_comparison(compared, order, check_requirements(requirements, found))
        return run.finish(
            replace(answer, notes=(*notes, *gather_notes(missing.items(), ()), *answer.notes)),
            plot("pe_spectra.plots.comparison.compose_comparison", compared, order),
        )


def _check_compared(encodings: Sequence[Encoding], length: int | None) -> None:
    """Refuse what could not be compared in time."""
    from pe_spectra.encodings.codes import count_positions
    from pe_spectra.metrics.common_ground import LEAST_WIDTH, choose_length

    shared = length or choose_length(encodings)
    sizes = [shared if e.shape is None else count_positions(e) or shared for e in encodings]
    check_together("--length and the widths", encodings, sizes, LEAST_WIDTH, MAX_COMPARED_NUMBERS)


def _list_demanded(one: Comparison) -> tuple[str, str, dict[str, float | None]]:
    """What may be demanded of an encoding; of a part that nobody asked for, only a collision is decided."""
    from pe_spectra.metrics.compare import read_numbers

    if one.part:
        return f"{one.encoding.label}, {one.part}", "undecided" if one.injective else one.outcome, {}
    return one.encoding.label, one.outcome, read_numbers(one)


def inspect(
    run: Run,
    subject: Subject,
    resize: str | None,
    method: str,
    align_corners: bool,
    fail_on: Level | None,
    explain: str | None,
) -> Outcome:
    """Norms, special and duplicate rows, seams, untrained tails, dominant periods, traces of
    interpolation; findings in sentences, each with its number and rows.
    """  # fmt: skip
    from pe_spectra.answers.portraits import answer_portrait
    from pe_spectra.inspection import KINDS

    if explain is not None:
        from pe_spectra.cli.listings import explain_code

        return explain_code(run, explain, KINDS, subject.encoding or ())
    if not subject.encoding:
        raise InputError("SPEC is missing", accepted="an encoding, or a file with a table; see --help")
    new = read_resizing(resize, method, align_corners)
    (encoding,) = replace(subject, timed=True).build()
    from pe_spectra.encodings.learned import Learned
    from pe_spectra.inspection.portrait import draw_portrait

    # what a file holds is there already, and is looked at as far as possible
    if encoding.is_random or not isinstance(encoding, Learned):
        numbers = (subject.length or encoding.default_length) * int(getattr(encoding, "d", 1))
        check_work("--length and the width", numbers, MAX_INSPECTED_NUMBERS)
    with run.progress("looking at rows and spectra"):
        resized = _resize(encoding, new, method=method, align_corners=align_corners, length=subject.length)
        portrait = draw_portrait(encoding, length=subject.length, resized=resized)
        return run.finish(
            answer_portrait(portrait, fail_on), plot("pe_spectra.plots.inspection.compose_portrait", portrait)
        )


def _collect(subject: Subject, every: bool, *, timed: bool) -> tuple[tuple[Encoding, ...], dict[str, str]]:
    """The encodings that were named, or the whole catalogue, at --length; where lags are times --step suits them all.

    With why not of those that are left out, as :meth:`Subject.build_possible` gives it.
    """
    specs = subject.encoding
    if every and specs:
        raise InputError("--all and SPEC exclude each other", specs[0], "one of them")
    if not every and not specs:
        raise InputError("SPEC is missing", accepted="encodings or files, or --all; see --help")
    if not every:
        return replace(subject, timed=timed).build_possible()
    from pe_spectra.encodings import ENCODINGS

    others = {name: getattr(subject, name) for name in ("d", "rho", "rows", "start", "step")}
    given = [name for name, value in others.items() if value is not None and not (timed and name == "step")]
    if given:
        raise InputError(f"--{given[0]} has no meaning with --all", str(others[given[0]]), "leave it out")
    names = [cls.name if cls.name != "learned" else "learned:init=normal" for cls in ENCODINGS]
    return replace(subject, encoding=names).build_possible()


def _settle_step(
    encodings: Sequence[Encoding], step: str | None, *, timed: bool
) -> tuple[Fraction | None, tuple[str, ...]]:
    """Seconds between positions, where lags are times, and a note where nothing says how many."""
    if step is None and not timed:
        return None, ()
    from pe_spectra.domains import Duration, read_duration

    if step is not None:
        return read_duration(Duration().parse(step, "--step")), ()
    steps = {e.time_step: read_duration(e.time_step) for e in encodings if e.time_step}
    if len(set(steps.values())) > 1:
        raise InputError("--periods: the time between positions differs", ", ".join(steps), "one step for all of them")
    if steps:
        return next(iter(steps.values())), ()
    return read_duration(_STEP), (f"--periods: positions are taken to be {_STEP} apart; --step says otherwise",)


def _read_order(name: str | None, periods: Sequence[str]) -> str:
    """Read the column to sort by; of the many that there are, the nearest are named to whoever names none."""
    from pe_spectra.metrics.compare import DEFAULT_ORDER, SYNONYMS, list_columns
    from pe_spectra.metrics.kernel_shape import OF_PERIOD

    known = (*list_columns(periods), *SYNONYMS)
    if name is None or name in known:
        return DEFAULT_ORDER if name is None else SYNONYMS.get(name, name)
    if name in OF_PERIOD and periods:  # as the table of the periods calls its columns
        columns = [f"{name}_{period}" for period in periods]
        if len(columns) > 1:
            raise InputError("--sort is a column of several periods", name, f"{' or '.join(columns)} is accepted")
        return columns[0]
    from difflib import get_close_matches

    near = [one for one in known if name and name in one]
    meant = suggest(name, near or known)
    if len(name) <= max(map(len, known)):  # beyond that nothing is near, and the comparison would take its time
        near += get_close_matches(name, known, n=_LISTED, cutoff=0)
    listed = ", ".join([*dict.fromkeys([*near, *known])][:_LISTED])
    accepted = f"{meant}accepted: {listed}, or another of {len(known)} (columns of --format csv)"
    prefix, _, period = name.partition("_")
    if prefix in OF_PERIOD and (not period or _is_period(period)) and not periods:
        accepted = f"it goes with --periods {period}".rstrip()
    raise InputError("--sort is not known", name or "''", accepted)


def _parse_periods(text: str) -> tuple[tuple[str, Fraction], ...]:
    from pe_spectra.domains import parse_periods

    return parse_periods([text], "--periods")


def _is_period(text: str) -> bool:
    try:
        return bool(_parse_periods(text))
    except InputError:
        return False


def read_resizing(text: str | None, method: str, align_corners: bool) -> tuple[int, ...] | None:
    """Read the size of --resize; None where nothing is resized.

    Raises
    ------
    InputError : no size, or --align-corners where it has no meaning.

    >>> read_resizing("14x7", "bicubic", False)
    (14, 7)
    """
    if text is None:
        if align_corners:
            raise InputError("--align-corners has no meaning without --resize", accepted="--resize N or HxW")
        return None
    parts = text.split("x")
    if len(parts) > 2 or "" in parts:
        raise InputError("--resize is no size", text or "''", "N, or HxW for a grid, is accepted")
    if align_corners and method not in CORNER_METHODS:
        raise InputError("--align-corners has no meaning with this --method", method, ", ".join(CORNER_METHODS))
    return tuple(_SIDE.parse(part, "--resize") for part in parts)


def _resize(encoding: Encoding, new: tuple[int, ...] | None, **options: Any) -> Resized | None:
    if new is None:
        return None
    from pe_spectra.inspection.resize import resize_encoding

    return resize_encoding(encoding, new, **options)


def precision(
    run: Run,
    subject: Subject,
    start_position: int,
    dtype: Sequence[str] | None,
    recipe: Sequence[str] | None,
    embedding: float,
    require: Sequence[str] | None,
) -> Outcome:
    """Positions, frequencies, phases, sines and cosines, the code, and its sum with a token's embedding:
    how many positions are still distinct after each, the first that are not, phase errors, channels
    that no longer change, and the smallest separation in units in the last place.
    """
    from pe_spectra.answers.roundings import answer_precision
    from pe_spectra.cli.requirements import check_requirements, parse_requirements

    requirements = parse_requirements(require or [], ("separation", "ulp_margin"))
    (encoding,) = subject.build()
    with run.progress("rounding"):
        report = _measure(
            encoding,
            length=subject.length,
            start_position=start_position,
            dtypes=dtype or COMMON_DTYPES,
            recipes=recipe,
            embedding=embedding,
        )
        answer = answer_precision(report, check_requirements(requirements, _list_codes(report)))
        return run.finish(answer, plot("pe_spectra.plots.staircases.compose_precision", report))


def _list_codes(report: PrecisionReport) -> list[tuple[str, str, dict[str, float | None]]]:
    """What is demanded of each recipe in each type: of its code, and injectivity of its last stage, the sum.

    Codes that are one in exact arithmetic, and that rounding alone distinguishes, are not injective, and
    neither is what has become infinite or no number.
    """
    merged = report.exact_distinct is not None and report.exact_distinct < report.codes[0].total
    return [
        (
            f"{code.dtype}, {RECIPE_TITLES.get(code.recipe, code.recipe)}",
            "injective" if end.distinct == end.total and not merged and not end.not_finite else "not-injective",
            {"separation": code.min_separation, "ulp_margin": code.ulp_margin},
        )
        for code, end in zip(report.codes, report.ends, strict=True)
    ]


def _measure(encoding: Encoding, **options: Any) -> PrecisionReport:
    from pe_spectra.precision.staircase import measure_precision

    try:
        return measure_precision(encoding, **options)
    except InputError as error:
        if error.what.startswith(("length", "recipe", "positions", "start_position")):
            raise InputError(f"--{error.what.replace('start_', 'start-')}", error.given, error.accepted) from None
        raise
