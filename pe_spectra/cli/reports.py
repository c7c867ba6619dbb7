"""The commands that regenerate and grade: figures, claims; and the form of JSON answers: schema."""

from __future__ import annotations

from pathlib import Path

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.run import Outcome, Progress, Run
from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import MAX_WIDTH, MIN_WIDTH
from pe_spectra.numbers import IntegerRange

_GRID = IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH)


def add_commands(app: typer.Typer) -> None:
    """Register the three commands."""
    register(
        app,
        "figures",
        answers=False,
        lists=True,
        examples=("pe-spectra figures --output figures", "pe-spectra figures --check"),
    )(figures)
    register(app, "claims", examples=("pe-spectra claims", "pe-spectra claims --check --json"))(claims)
    register(app, "schema", answers=False, examples=("pe-spectra schema",))(schema)


def figures(
    run: Run, check: options.Check = False, directory: options.Directory = "figures", grid: options.FigureGrid = None
) -> Outcome:
    """Regenerate the paper's figures and ours, each with its numbers.

    Every figure is written as .png and .svg beside a .csv of exactly the numbers drawn. --check
    recomputes them and compares with those files instead.
    """
    size = _GRID.parse(grid, "--grid") if grid is not None else None
    place = _read_directory(directory)
    from pe_spectra.answers.drawn import answer_checked, answer_drawn
    from pe_spectra.cli.next_command import compose_command
    from pe_spectra.figures import RECIPES, build_figures, check_figures, compare_figures, list_figure_files
    from pe_spectra.files.writer import check_writable

    with Progress("computing figures", quiet=run.quiet) as progress:
        if check:
            found = check_figures(place, grid=size, progress=progress.step)
            return run.finish(answer_checked(directory, found, len(RECIPES)))
        check_writable([place / name for name in list_figure_files()], label="--output", create_parents=True)
        files = build_figures(grid=size, progress=progress.step)
        then = compose_command(
            "figures", {"check": True, "output": directory if directory != "figures" else None, "grid": grid}
        )
        titles = {recipe.name: recipe.title for recipe in RECIPES}
        before = compare_figures(files, place)
        outcome = run.finish(answer_drawn(titles, tuple(files), directory, before, next_command=then))
    return Outcome(
        text=outcome.text,
        messages=outcome.messages,
        files={place / name: data for name, data in files.items()},
        makes_folders=True,
    )


def claims(run: Run, check: options.Check = False) -> Outcome:
    """Grade every statement of the paper that can be checked.

    Each with its place, the printed value, ours, a verdict, why, and the command that shows it.
    --check exits 1 when a computed verdict is not the recorded one.
    """
    from pe_spectra.answers.grades import answer_claims
    from pe_spectra.claims import find_disagreements, grade_claims

    with Progress("grading claims", quiet=run.quiet) as progress:
        graded = grade_claims(progress.step)
    differing = [
        f"claim {claim.id}: recorded {claim.expected_verdict}, computed {claim.verdict}"
        for claim in find_disagreements(graded)
    ]
    return run.finish(answer_claims(graded, tuple(differing) if check else ()))


def schema() -> Outcome:
    """Print the JSON Schema of the answers.

    Every document that --json prints is valid under it; what each field means stands beside it.
    """
    import json

    from pe_spectra.answers.documents import build_schema

    return Outcome(text=f"{json.dumps(build_schema(), indent=2)}\n")


def _read_directory(text: str) -> Path:
    if not text or text == "-":
        raise InputError("--output is no name of a folder", text or "''", "a folder is accepted")
    path = Path(text)
    try:
        if path.exists() and not path.is_dir():
            raise FileError(path, "is no folder (--output)")
    except OSError as error:
        raise FileError(path, "is no possible folder (--output)") from error
    return path
