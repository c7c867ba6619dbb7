"""The command that exports an array of an encoding, or of every kind of layers of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra.cli.run import Outcome, Run
from pe_spectra.cli.subject import Subject, check_work
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_EXPORTED_NUMBERS, MAX_EXPORTED_TEXT_NUMBERS
from pe_spectra.spec import FileSpec, parse_spec
from pe_spectra.wording import count

if TYPE_CHECKING:
    from pe_spectra.cli.positions import GivenPositions
    from pe_spectra.encodings import Encoding
    from pe_spectra.export import Exported
    from pe_spectra.models.rotation import Rotation

#: What can be written of every kind of layers.
_OF_ROTATIONS = ("frequencies", "cos-sin")


def export(
    run: Run,
    subject: Subject,
    output: str | None,
    what: str | None,
    resize: str | None,
    method: str,
    align_corners: bool,
) -> Outcome:
    """A table has a row for each position, a kernel or bias one for each lag and a column for each
    head, frequencies a row each (frequency, mass, phase). `diff` reads frequencies and cos-sin, as
    of a model's config.json, which --length serves; in .npz or .safetensors of every kind of layers,
    named. With --resize the table is interpolated, and special rows before the positions are kept.
    """  # fmt: skip
    from pe_spectra.export import ARCHIVES, encode_exported, write_lines

    place = _read_place(output)
    new = _read_resizing(subject, what, resize, method, align_corners)
    subject.refuse_length()
    located, places = subject.locate() if subject.positions is not None else (subject, None)
    (encoding,) = located.build()
    kinds, left_out = _find_kinds(encoding, what, subject)
    if len(kinds) > 1 and place is not None and place.suffix.lower() in ARCHIVES:
        return _export_kinds(run, kinds, what, subject, place, left_out)
    encoding = _serve(encoding, subject) if what in _OF_ROTATIONS else encoding
    is_text = place is None or place.suffix.lower() in (".csv", ".tsv")
    if new is None:
        found, said = _export_own(encoding, what, subject, places, is_text=is_text)
    else:
        found, said = _export_resized(
            encoding, new, is_text=is_text, method=method, align_corners=align_corners, length=subject.length
        )
    notes = (
        ()
        if run.quiet
        else tuple(
            f"note: {note}"
            for note in (
                *encoding.all_notes,
                *(places.notes if places else ()),
                *_name_archives(kinds),
                *left_out,
                *said,
            )
        )
    )
    if place is None:
        return Outcome(parts=(write_lines(found),), messages=notes)
    data = encode_exported(found, place.suffix.lower())
    written = () if run.quiet else (f"wrote {place} ({' x '.join(map(str, found.values.shape))}, {found.what})",)
    return Outcome(messages=(*notes, *written), files={place: data})


def _find_kinds(encoding: Encoding, what: str | None, subject: Subject) -> tuple[dict[str, Rotation], tuple[str, ...]]:
    """Find what every kind of layers of a configuration is turned by, by name, and say which are left out.

    Those are whose frequencies are no ladder of the catalogue, as along the axes of an image.
    """
    spec = parse_spec((subject.encoding or [""])[0])
    if what not in _OF_ROTATIONS or encoding.family != "rotary" or not isinstance(spec, FileSpec):
        return {}, ()
    from pe_spectra.model_sources import read_model
    from pe_spectra.models.scheme import list_rotations

    found = list_rotations(read_model(spec.path), subject.length)
    left_out = (name for name, one in found.items() if one is None)
    said = tuple(f"{name} is left out: its frequencies are not those of the catalogue's rope" for name in left_out)
    return {name: one for name, one in found.items() if one is not None}, said


def _export_kinds(
    run: Run, kinds: Mapping[str, Rotation], what: str | None, subject: Subject, place: Path, left_out: tuple[str, ...]
) -> Outcome:
    """Write the same array of every kind of layers into one file."""
    from pe_spectra.export import encode_kinds

    ropes = {name: one.rope for name, one in kinds.items() if one.rope is not None}
    found = {name: _export_own(rope, what, subject, None, is_text=False)[0] for name, rope in ropes.items()}
    data = encode_kinds(found, place.suffix.lower())
    if run.quiet:
        return Outcome(files={place: data})
    said = [*(f"{name}: {note}" for name, one in kinds.items() for note in one.notes), *left_out]
    shapes = (f"{name} {' x '.join(map(str, one.values.shape))}" for name, one in found.items())
    messages = (*(f"note: {note}" for note in said), f"wrote {place} ({what} of {', '.join(shapes)})")
    return Outcome(messages=messages, files={place: data})


def _name_archives(kinds: Mapping[str, Rotation]) -> tuple[str, ...]:
    """Say which files hold several kinds, where there are several and one is written."""
    from pe_spectra.export import ARCHIVES

    return (f"{' and '.join(ARCHIVES)} hold all: {', '.join(kinds)}",) if len(kinds) > 1 else ()


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
    encoding: Encoding, what: str | None, subject: Subject, located: GivenPositions | None, *, is_text: bool
) -> tuple[Exported, tuple[str, ...]]:
    """Take an array of an encoding as it is, and say of a kernel what it is an average over."""
    from pe_spectra.export import count_exported, export_encoding

    times = None if located is None else located.times
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
    from pe_spectra.export import SUFFIXES, check_suffix
    from pe_spectra.files.places import check_writable

    if output is None:
        raise InputError("--output is missing", accepted=f"--output FILE ({', '.join(SUFFIXES)}) or - is accepted")
    if output == "-":
        return None
    check_suffix(Path(output), "--output")
    check_writable([Path(output)], label="--output")
    return Path(output)
