"""The commands that list and write what there is: figures, claims, schema, encodings, stacks, explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run
from pe_spectra.cli.subject import Subject
from pe_spectra.errors import FileError, InputError
from pe_spectra.numbers import Choice
from pe_spectra.vocabulary import ANNOTATION_FORMATS

if TYPE_CHECKING:
    from pe_spectra.findings import Kind


def figures(run: Run, check: bool, output: str, grid: int | None) -> Outcome:
    """Every figure is written as .png and .svg beside a .csv of exactly the numbers drawn. --check
    recomputes them and compares with those files instead.
    """
    place = _read_directory(output)
    from pe_spectra.answers.drawn import answer_checked, answer_drawn
    from pe_spectra.figures import ALL_RECIPES, build_figures, check_figures, compare_figures, list_figure_files
    from pe_spectra.files.places import check_writable

    with run.progress("computing figures") as progress:
        if check:
            found = check_figures(place, grid=grid, progress=progress)
            return run.finish(answer_checked(output, found, len(ALL_RECIPES)))
        check_writable([place / name for name in list_figure_files()], label="--output", create_parents=True)
        files = build_figures(grid=grid, progress=progress)
        titles = {recipe.name: recipe.title for recipe in ALL_RECIPES}
        before = compare_figures(files, place)
        answer = answer_drawn(titles, tuple(files), output, before)
        outcome = run.finish(answer, then=run.propose("figures", check=True))
    return outcome._replace(files={place / name: data for name, data in files.items()}, makes_folders=True)


def claims(run: Run, claim: str | None, source: str | None, check: bool) -> Outcome:
    """Each with its place, the printed value, ours, a verdict, why, and the command that shows it;
    with an ID, that one in full. --check exits 1 when a computed verdict is not the recorded one.
    """
    from pe_spectra.answers.grades import answer_claim, answer_claims
    from pe_spectra.claims import find_disagreements, grade_claims

    with run.progress("grading claims") as progress:
        graded = grade_claims(progress, claim=claim, source=source)
    differing = [
        f"claim {claim.id}: recorded {claim.expected_verdict}, computed {claim.verdict}"
        for claim in find_disagreements(graded)
    ]
    answer = answer_claims if claim is None else answer_claim
    return run.finish(answer(graded, tuple(differing) if check else ()))


def schema(_: Run) -> Outcome:
    """Every document that --json prints is valid under it; what each field means stands beside it."""
    # what pe_spectra.answers.documents makes of all declarations: to load these takes longer than all else
    return Outcome(parts=((Path(__file__).parents[1] / "answers" / "schema.json").read_text("utf-8"),))


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


def encodings(run: Run, name: str | None) -> Outcome:
    """With a name, everything about that one; with a SPEC, the values that its parameters take."""
    from pe_spectra.answers.catalogues import answer_catalogue, answer_encoding

    if name is None:
        return run.finish(answer_catalogue())
    if ":" not in name and "/" not in name and "." not in name:
        from pe_spectra.encodings import find_encoding

        return run.finish(answer_encoding(find_encoding(name, "NAME")))
    (encoding,) = Subject(encoding=[name], label="SPEC").build()
    return run.finish(answer_encoding(type(encoding), encoding))


def stacks(run: Run) -> Outcome:
    """Measured is what was run; of the others the source was read."""
    from pe_spectra.answers.known_stacks import answer_stacks

    return run.finish(answer_stacks())


def explain_code(run: Run, text: str, explanations: Mapping[str, Kind], others: Sequence[str]) -> Outcome:
    """Answer --explain, which stands alone.

    Parameters
    ----------
    text : the code as it was given. explanations : the reasoning behind each code.
    others : what else was asked for.

    Raises
    ------
    InputError : a code that is not known, or something else beside it.
    """
    from pe_spectra.answers.explanations import answer_explanation

    if run.figure is not None:
        raise InputError("--figure has no meaning with --explain", str(run.figure), "leave it out")
    if run.format in ANNOTATION_FORMATS:
        raise InputError(f"--format {run.format} has no meaning with --explain", text, "leave one of them out")
    if others:
        raise InputError("--explain takes nothing beside it", others[0], "leave it out")
    code = Choice(members=tuple(explanations)).parse(text, "--explain")
    return run.finish(answer_explanation(code, explanations))
