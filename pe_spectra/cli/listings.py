"""The commands that list and write what there is: figures, claims, schema, encodings, stacks, export, explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra.cli.run import Outcome, Run
from pe_spectra.cli.subject import Subject, check_work, read_times
from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import MAX_EXPORTED_NUMBERS, MAX_EXPORTED_TEXT_NUMBERS
from pe_spectra.numbers import Choice
from pe_spectra.spec import FileSpec, parse_spec
from pe_spectra.wording import count

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding
    from pe_spectra.export import Exported
    from pe_spectra.findings import Kind


def figures(run: Run, check: bool, output: str, grid: int | None) -> Outcome:
    """Regenerate the paper's figures and ours, each with its numbers.

    Every figure is written as .png and .svg beside a .csv of exactly the numbers drawn. --check
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
    return replace(outcome, files={place / name: data for name, data in files.items()}, makes_folders=True)


def claims(run: Run, claim: str | None, source: str | None, check: bool) -> Outcome:
    """Grade every statement of the paper that can be checked.

    Each with its place, the printed value, ours, a verdict, why, and the command that shows it;
    with an ID, that one in full. --check exits 1 when a computed verdict is not the recorded one.
    """
    from pe_spectra.answers.catalogues import answer_claim, answer_claims
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


def encodings(run: Run, name: str | None) -> Outcome:
    """The catalogue: every encoding with its formula, parameters, source and pitfalls.

    With a name, everything about that one; with a SPEC, the values that its parameters take.
    """
    from pe_spectra.answers.catalogues import answer_catalogue, answer_encoding

    if name is None:
        return run.finish(answer_catalogue())
    if ":" not in name and "/" not in name and "." not in name:
        from pe_spectra.encodings import find_encoding

        return run.finish(answer_encoding(find_encoding(name, "NAME")))
    (encoding,) = Subject(encoding=[name], label="SPEC").build()
    return run.finish(answer_encoding(type(encoding), encoding))


def stacks(run: Run) -> Outcome:
    """Every implementation that --stack takes, with its releases: version, date, how it is known.

    Measured is what was run; of the others the source was read.
    """
    from pe_spectra.answers.known_stacks import answer_stacks

    return run.finish(answer_stacks())


def export(
    run: Run,
    subject: Subject,
    output: str | None,
    what: str | None,
    resize: str | None,
    method: str,
    align_corners: bool,
) -> Outcome:
    """Export the table, frequencies, kernel, bias, or cosines and sines of an encoding.

    A table has a row for each position, a kernel or bias one for each lag and a column for each
    head, frequencies a row each (frequency, mass, phase). `diff` reads frequencies and cos-sin, as
    of a model's config.json, which --length serves. With --resize the table is interpolated, and
    special rows before the positions are kept.
    """  # fmt: skip
    place = _read_place(output)
    new = _read_resizing(subject, what, resize, method, align_corners)
    subject.refuse_length()
    (encoding,) = replace(subject, positions=None).build()
    encoding = _serve(encoding, subject) if what in ("frequencies", "cos-sin") else encoding
    from pe_spectra.export import encode_exported, write_lines

    is_text = place is None or place.suffix.lower() in (".csv", ".tsv")
    if new is None:
        found, said = _export_own(encoding, what, subject, is_text=is_text)
    else:
        found, said = _export_resized(
            encoding, new, is_text=is_text, method=method, align_corners=align_corners, length=subject.length
        )
    notes = () if run.quiet else tuple(f"note: {note}" for note in (*encoding.all_notes, *said))
    if place is None:
        return Outcome(text=write_lines(found), messages=notes)
    data = encode_exported(found, place.suffix.lower())
    written = () if run.quiet else (f"wrote {place} ({' x '.join(map(str, found.values.shape))}, {found.what})",)
    return Outcome(messages=(*notes, *written), files={place: data})


def _serve(encoding: Encoding, subject: Subject) -> Encoding:
    """Of a configuration whose scaling goes by the length, take --length for the one that is served."""
    from pe_spectra.encodings.rotary import Rope

    (text,) = subject.encoding or [""]
    if subject.length is None or not isinstance(encoding, Rope) or encoding.served is None:
        return encoding
    # what a SPEC says is served stays
    return replace(encoding, served=max(2, subject.length)) if isinstance(parse_spec(text), FileSpec) else encoding


def _read_resizing(
    subject: Subject, what: str | None, resize: str | None, method: str, align_corners: bool
) -> tuple[int, ...] | None:
    """Read --resize; a table of integer positions can be resized, and nothing else."""
    from pe_spectra.cli.inspecting import read_resizing

    new = read_resizing(resize, method, align_corners)
    if new is not None and (what not in (None, "table") or subject.positions is not None):
        given = f"--what {what}" if subject.positions is None else "--positions"
        raise InputError(f"--resize has no meaning with {given}", resize or "", "--what table, without --positions")
    return new


def _export_own(
    encoding: Encoding, what: str | None, subject: Subject, *, is_text: bool
) -> tuple[Exported, tuple[str, ...]]:
    """Take an array of an encoding as it is, and say of a kernel what it is an average over."""
    from pe_spectra.export import count_exported, export_encoding

    times = read_times(subject.positions) if subject.positions is not None else None
    places = len(times) if times is not None else subject.length or encoding.default_length
    numbers = count_exported(encoding, what, places)
    if is_text:
        check_work("--length and the width as text", numbers, MAX_EXPORTED_TEXT_NUMBERS)
    check_work("--length and the width", numbers, MAX_EXPORTED_NUMBERS)
    found = export_encoding(encoding, what, length=subject.length, positions=times)
    return found, (f"{encoding.label}: a mean over {found.averaged}",) if found.averaged else ()


def _export_resized(
    encoding: Encoding, new: tuple[int, ...], *, is_text: bool, **options: Any
) -> tuple[Exported, tuple[str, ...]]:
    """Interpolate the table of an encoding, and say what was done.

    Raises
    ------
    InputError : --length beside a grid, which is resized whole; numbers beyond what is written as text.
    """
    import numpy as np

    from pe_spectra.export import export_rows
    from pe_spectra.inspection.resize import resize_rows

    if encoding.shape is not None and options["length"] is not None:
        raise InputError("--length has no meaning with --resize of a grid", str(options["length"]), "leave it out")
    if is_text:
        rows = new[0] * (1 if encoding.shape is None else new[-1])
        check_work("--resize and the width as text", rows * int(getattr(encoding, "d", 1)), MAX_EXPORTED_TEXT_NUMBERS)
    found = resize_rows(encoding, new, **options)
    kept = f"; {count(len(found.front), 'row')} before the positions kept" if len(found.front) else ""
    exported = export_rows(encoding, np.vstack([found.front, found.after]), resized=str(found))
    return exported, (f"{encoding.label}: resized from {found}{kept}",)


def _read_place(output: str | None) -> Path | None:
    """Check where the array goes, before any work; None for stdout."""
    if output is None:
        raise InputError(
            "--output is missing", accepted="--output FILE (.npy, .csv, .tsv, .safetensors) or - is accepted"
        )
    if output == "-":
        return None
    from pe_spectra.export import check_suffix
    from pe_spectra.files.places import check_writable

    check_suffix(Path(output), "--output")
    check_writable([Path(output)], label="--output")
    return Path(output)


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
    from pe_spectra.answers.catalogues import answer_explanation

    if run.figure is not None:
        raise InputError("--figure has no meaning with --explain", str(run.figure), "leave it out")
    if others:
        raise InputError("--explain takes nothing beside it", others[0], "leave it out")
    code = Choice(members=tuple(explanations)).parse(text, "--explain")
    return run.finish(answer_explanation(code, explanations))
