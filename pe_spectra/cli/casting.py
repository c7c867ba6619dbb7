"""The command about number types: what finite precision leaves of an encoding, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.run import Outcome, Progress, Run
from pe_spectra.cli.subject import Subject, takes
from pe_spectra.errors import InputError
from pe_spectra.numbers import Choice, RealRange
from pe_spectra.vocabulary import COMMON_DTYPES, DTYPES, RECIPE_TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pe_spectra.encodings import Encoding
    from pe_spectra.precision import PrecisionReport

_RECIPE_NAMES = tuple(RECIPE_TITLES.values())
_SPREAD = RealRange(minimum=1e-6, maximum=1e6)


def add_commands(app: typer.Typer) -> None:
    """Register the command."""
    register(
        app,
        "precision",
        draws=True,
        examples=(
            "pe-spectra precision sinusoidal --length 8192 --dtype bfloat16",
            "pe-spectra precision rope:base=500000 --length 8192 --recipe fp32-then-cast",
            "pe-spectra precision alibi --length 256 --dtype bfloat16 --require injective",
        ),
    )(precision)


def precision(
    run: Run,
    subject: Annotated[Subject, takes("d", "rho", "length", "rows", spec=options.Spec)],
    dtype: Annotated[
        list[str] | None,
        typer.Option(
            "--dtype",
            metavar="|".join(DTYPES) + "...",
            autocompletion=options.complete(DTYPES),
            help=f"number types to look at  [{' '.join(COMMON_DTYPES)}]",
        ),
    ] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe",
            metavar="|".join(_RECIPE_NAMES) + "...",
            autocompletion=options.complete(_RECIPE_NAMES),
            help="which steps are in the type: none but the sum; only the final cast; positions first and the final "
            "cast; all  [every one]",
        ),
    ] = None,
    embedding: Annotated[
        str,
        typer.Option(
            "--embedding",
            metavar="X",
            show_default=False,
            help="standard deviation of the token's embedding that codes are added to, 1e-6 to 1e6  [1]",
        ),
    ] = "1",
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="TEXT",
            help="'injective', 'separation>=0.1' or 'ulp_margin>=1' of every code: exit 1 unless it holds; "
            "give --require again for each",
        ),
    ] = None,
) -> Outcome:
    """What finite precision leaves of an encoding, stage by stage.

    Positions, frequencies, phases, sines and cosines, the code, and its sum with a token's embedding:
    how many positions are still distinct after each, the first that are not, phase errors, channels
    that no longer change, and the smallest separation in units in the last place.
    """
    from pe_spectra.answers.roundings import answer_precision
    from pe_spectra.cli.requirements import check_precision, parse_requirements

    requirements = parse_requirements(require or [], ("ulp_margin",))
    dtypes = _read_names(dtype, "--dtype", DTYPES) or COMMON_DTYPES
    recipes = _read_names(recipe, "--recipe", _RECIPE_NAMES) or None
    spread = _SPREAD.parse(embedding, "--embedding")
    (encoding,) = subject.build()
    size = subject.read_length((encoding,))
    with Progress("rounding", quiet=run.quiet):
        report = _measure(encoding, size, dtypes, recipes, spread)
        # all rows, and in CSV and a pipe, they stand in the order of the steps
        brief = run.format == "table" and run.screen.watched and not run.screen.full
        answer = answer_precision(report, check_precision(requirements, report), changes_first=brief)
        return run.finish(answer, lambda: _draw(report))


def _read_names(texts: Sequence[str] | None, name: str, members: tuple[str, ...]) -> tuple[str, ...]:
    choice = Choice(members=members)
    items = [item for text in texts or () for part in text.split(",") for item in (part.split() or [""])]
    # a recipe's name of release 0.1.0 stays accepted
    return tuple(dict.fromkeys(choice.parse(RECIPE_TITLES.get(item, item), name) for item in items))


def _measure(
    encoding: Encoding, size: int | None, dtypes: Sequence[str], recipes: Sequence[str] | None, spread: float
) -> PrecisionReport:
    from pe_spectra.precision import measure_precision

    try:
        return measure_precision(encoding, length=size, dtypes=dtypes, recipes=recipes, embedding=spread)
    except InputError as error:
        if error.what.startswith(("length", "recipe")):
            raise InputError(f"--{error.what}", error.given, error.accepted) from None
        raise


def _draw(report: PrecisionReport) -> Figure:
    from pe_spectra.plots.staircases import compose_precision

    return compose_precision(report)
