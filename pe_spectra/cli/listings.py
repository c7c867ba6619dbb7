"""The commands about encodings themselves: the catalogue, and export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.inputs import check_work
from pe_spectra.cli.run import Outcome, Run
from pe_spectra.cli.subject import Subject, read_times, takes
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_EXPORTED_NUMBERS, MAX_EXPORTED_TEXT_NUMBERS
from pe_spectra.numbers import Choice
from pe_spectra.vocabulary import EXPORTED

_OPTIONS = ("d", "rho", "length", "rows", "positions", "start", "step")


def add_commands(app: typer.Typer) -> None:
    """Register both commands."""
    register(
        app, "encodings", examples=("pe-spectra encodings", "pe-spectra encodings rope", "pe-spectra encodings --json")
    )(encodings)
    register(
        app,
        "export",
        answers=False,
        examples=(
            "pe-spectra export sinusoidal:d=64 --output table.npy",
            "pe-spectra export alibi:heads=8 --length 16 --output -",
        ),
    )(export)


def encodings(run: Run, name: options.EncodingName = None) -> Outcome:
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


def export(
    run: Run,
    subject: Annotated[Subject, takes(*_OPTIONS, spec=options.Spec)],
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="FILE", help=".npy, .csv, .tsv or .safetensors; - is csv on stdout"),
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(
            "--what",
            metavar="|".join(EXPORTED),
            autocompletion=options.complete(EXPORTED),
            show_default=False,
            help="what to export  [the first that it has]",
        ),
    ] = None,
) -> Outcome:
    """Export the table, frequencies, kernel or bias of an encoding.

    A table has a row for each position, a kernel or bias one for each lag and a column for each
    head, frequencies a row each (frequency, mass, phase).
    """  # fmt: skip
    place = _read_place(output)
    chosen = None if what is None else Choice(members=EXPORTED).parse(what, "--what")
    subject.refuse_length()
    (encoding,) = replace(subject, positions=None).build()
    size = subject.read_length([encoding])
    from pe_spectra.export import count_exported, export_encoding
    from pe_spectra.files.encoding import encode_array, write_lines

    times = read_times(subject.positions) if subject.positions is not None else None
    places = len(times) if times is not None else size or encoding.default_length
    _check_size(count_exported(encoding, chosen, places), place)
    found = export_encoding(encoding, chosen, length=size, positions=times)
    notes = () if run.quiet else tuple(f"note: {note}" for note in encoding.all_notes)
    if place is None:
        return Outcome(text=write_lines(found.values, found.index_name, found.index, found.columns), messages=notes)
    data = encode_array(
        found.values,
        place.suffix.lower(),
        name=found.what,
        index_name=found.index_name,
        index=found.index,
        columns=found.columns,
        metadata={"encoding": encoding.spec, "what": found.what},
    )
    written = () if run.quiet else (f"wrote {place} ({' x '.join(map(str, found.values.shape))}, {found.what})",)
    return Outcome(messages=(*notes, *written), files={place: data})


def _check_size(numbers: int, place: Path | None) -> None:
    if place is None or place.suffix.lower() in (".csv", ".tsv"):
        check_work("--length and the width as text", numbers, MAX_EXPORTED_TEXT_NUMBERS)
    check_work("--length and the width", numbers, MAX_EXPORTED_NUMBERS)


def _read_place(output: str | None) -> Path | None:
    """Check where the array goes, before any work; None for stdout."""
    if output is None:
        raise InputError(
            "--output is missing", accepted="--output FILE (.npy, .csv, .tsv, .safetensors) or - is accepted"
        )
    if output == "-":
        return None
    from pe_spectra.files.encoding import check_suffix
    from pe_spectra.files.writer import check_writable

    check_suffix(Path(output), "--output")
    check_writable([Path(output)], label="--output")
    return Path(output)
