"""One run of a command: its shared options checked before any work, and its answer put together."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from pe_spectra.cli.terminal import Screen, count_lines, is_terminal, look_at_screen
from pe_spectra.errors import FileError, InputError
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.vocabulary import FIGURE_SUFFIXES, FORMAT_SUFFIXES
from pe_spectra.wording import Typed, compose_command

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pe_spectra.answers.answer import Answer
    from pe_spectra.plots.choices import FigureOptions

#: The variable that, where it is not empty, leaves out the figures that nobody asked for.
NO_FIGURE = "PE_SPECTRA_NO_FIGURE"
#: A longer command, as with a tensor of a very long name, is no hint for a person.
_LONGEST_COMMAND = 200
#: Seconds without a word.
_PATIENCE = 1.0
_CLEAR = "\r\x1b[2K"
_OUTPUT_FORMATS = {suffix: form for form, suffix in FORMAT_SUFFIXES.items()}


class Outcome(NamedTuple):
    """Everything that a command leaves: text for stdout, lines for stderr, files, exit code.

    Of a command that answers with data also the answer itself, and what draws it.
    """

    parts: Iterable[str] = ()
    messages: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = MappingProxyType({})
    makes_folders: bool = False
    exit_code: int = 0
    answer: Answer | None = None
    draw: Callable[[], Figure] | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """The shared options of one command, checked.

    Attributes
    ----------
    format : one of FORMATS.
    output : the file for the answer, or None for stdout.
    figure : where to draw, or None.
    figure_asked : whether that place was named by the user.
    notes : notes of the run itself, for stderr.
    typed : the command's own options as they were typed, by name; None for what says what is so without it.
    drawing : how to draw, where anything was asked for.
    """

    format: str
    screen: Screen
    output: Path | None
    figure: Path | None
    figure_asked: bool
    quiet: bool
    notes: tuple[str, ...]
    typed: Typed
    drawing: FigureOptions | None = None

    def propose(self, command: str, **changed: str | Sequence[str] | bool | None) -> str:
        """Write a command to try next with what was typed for this one, but for what is changed; None leaves it out."""
        return compose_command(command, **{**self.typed, **changed})

    @contextmanager
    def progress(self, what: str, *, is_long: bool = False) -> Iterator[Callable[[int, int], None]]:
        """Say on a terminal's stderr what is being done and for how long, after the first second.

        What this gives is told how many of how many parts are done; of long work the time that is left is said, too.
        """
        if self.quiet or not is_terminal(sys.stderr):
            yield lambda *_: None
            return
        is_done, step = threading.Event(), ""
        first: tuple[int, float] | None = None

        def tell(done: int, total: int) -> None:
            nonlocal step, first
            first = first or (done, time.monotonic())
            step = f", {done} of {total}"
            if is_long and done > first[0]:
                step += f", {_write_left((time.monotonic() - first[1]) / (done - first[0]) * (total - done))} left"

        def watch() -> None:
            start = time.monotonic()
            end = ""
            while not is_done.wait(_PATIENCE):
                sys.stderr.write(f"{_CLEAR}{what}{step} ({time.monotonic() - start:.0f} s)")
                sys.stderr.flush()
                end = _CLEAR
            sys.stderr.write(end)
            sys.stderr.flush()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield tell
        finally:
            is_done.set()
            thread.join()

    def finish(
        self,
        answer: Answer,
        draw: Callable[[], Figure] | None = None,
        *,
        then: str = "",
        errors: tuple[str, ...] = (),
    ) -> Outcome:
        """Put together what the command leaves: the answer in its format, and the figure if one is drawn.

        Parameters
        ----------
        then : what to try next, where that depends on what was typed.
        errors : of a command over many files, what is wrong with those that the answer is not about.
        """
        from pe_spectra.cli.render import render

        files: dict[Path, bytes] = {}
        figure = self.figure if draw is not None else None
        if figure is not None and draw is not None:
            files[figure] = _render_figure(draw, figure.suffix, self.drawing)
        by_default = "" if self.figure_asked else " (--no-figure leaves it out)"
        # beside errors stderr has them alone; JSON has its notes inside
        messages = [*self.notes, *(f"note: {note}" for note in answer.notes if not errors and self.format != "json")]
        messages += [f"wrote {path}{by_default if path == figure else ''}" for path in (figure, self.output) if path]
        then = then or answer.next_command
        if self.screen.hinted and 0 < len(then) <= _LONGEST_COMMAND:
            messages.append(f"next: {then}")
        # a check is decided only where every file could be read
        failed = [f"error: {text}" for text in errors] or [f"check failed: {text}" for text in answer.failed]
        messages = failed if self.quiet else [*messages, *failed]
        below = count_lines(messages, self.screen.text_width) if self.screen.hinted else 0
        screen = self.screen._replace(height=self.screen.height - below)
        parts: Iterable[str] = render(answer, self.format, screen, str(figure) if figure else None)
        if self.output is not None:
            files[self.output] = b"".join(part.encode("utf-8", "backslashreplace") for part in parts)
            parts = ()
        return Outcome(
            parts=parts,
            messages=tuple(messages),
            files=files,
            makes_folders=not self.figure_asked,
            exit_code=2 if errors else 1 if answer.failed else 0,
            answer=answer,
            draw=draw,
        )


def plot(name: str, *results: object, **settings: object) -> Callable[[], Figure]:
    """Return what draws results, by the name of its function: only drawing loads Matplotlib.

    >>> draw = plot("pe_spectra.plots.strips.compose_low_bin")
    """
    module, _, function = name.rpartition(".")
    return lambda: cast("Figure", getattr(import_module(module), function)(*results, **settings))


def _render_figure(draw: Callable[[], Figure], suffix: str, drawing: FigureOptions | None) -> bytes:
    import numpy as np

    from pe_spectra.plots.choices import FigureOptions, draw_with

    # axes of numbers near the largest: what overflows there is the drawing library's business
    with np.errstate(over="ignore", invalid="ignore"), draw_with(drawing or FigureOptions()):
        from pe_spectra.plots.sheet import render

        return render(draw(), suffix)


def prepare_run(
    *,
    default_figure: str,
    typed: Typed,
    color: str,
    quiet: bool,
    form: str | None = None,
    json: bool = False,
    output: str | None = None,
    full: bool = False,
    figure: str | None = None,
    no_figure: bool = False,
    no_title: bool = False,
    no_caption: bool = False,
    **drawing: str | None,
) -> Run:
    """Check the shared options against each other and the places to write to, before any work.

    Raises
    ------
    InputError, FileError : an option that cannot be used, or a place that was asked for and cannot be written.
    """
    if figure is not None and no_figure:
        raise InputError("--figure and --no-figure exclude each other", figure or "''", "one of them")
    place = _read_figure(figure) if figure is not None else None
    target = _read_output(output, form) if output is not None else None
    chosen = _read_format(form, json, target)
    asked = {label: path for label, path in (("--figure", place), ("--output", target)) if path is not None}
    if asked:
        from pe_spectra.files.places import check_writable

        for label, path in asked.items():
            check_writable([path], label=label)
        check_writable([*asked.values()], label=" and ".join(asked))
    chosen_drawing = None
    if no_title or no_caption or any(value is not None for value in drawing.values()):
        from pe_spectra.plots.choices import read_figure_options

        chosen_drawing = read_figure_options(**drawing, title=not no_title, caption=not no_caption)
    notes: tuple[str, ...] = ()
    if place is None and default_figure and not no_figure and not os.environ.get(NO_FIGURE):
        place, notes = _find_default_place(default_figure)
    return Run(
        format=chosen,
        screen=look_at_screen(chosen, color, full=full, to_file=target is not None),
        output=target,
        figure=place,
        figure_asked=figure is not None,
        quiet=quiet,
        notes=notes,
        typed=typed,
        drawing=chosen_drawing,
    )


def _write_left(seconds: float) -> str:
    """Write a time that is estimated, in the unit that people would say."""
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"


def _read_figure(text: str) -> Path:
    suffix = "" if text.endswith("/") else Path(text).suffix
    if suffix.lower() not in FIGURE_SUFFIXES:
        *others, last = FIGURE_SUFFIXES
        what = f"--figure cannot write {suffix}" if suffix else "--figure names no file"
        raise InputError(what, text or "''", f"use {', '.join(others)} or {last}")
    return Path(text)


def _read_output(text: str, form: str | None) -> Path:
    path = Path(text)
    if not text or text == "-" or text.endswith("/") or (form is None and path.suffix.lower() not in _OUTPUT_FORMATS):
        accepted = f"a file ending in {', '.join(_OUTPUT_FORMATS)}, or any file with --format"
        raise InputError("--output is no name of a file for an answer", text or "''", accepted)
    return path


def _read_format(form: str | None, json: bool, output: Path | None) -> str:
    if json and form not in (None, "json"):
        raise InputError("--json and --format contradict each other", str(form), "one of them")
    implied = _OUTPUT_FORMATS.get(output.suffix.lower()) if output else None
    wanted = "json" if json else form
    if wanted and implied and wanted != implied:
        raise InputError("--output contradicts the format", f"{output} and {wanted}", f"{implied}, or another ending")
    return wanted or implied or "table"


def _find_default_place(name: str) -> tuple[Path | None, tuple[str, ...]]:
    from pe_spectra.files.places import check_writable

    try:
        check_writable([Path(name)], label="", create_parents=True)
    except (FileError, InputError, OSError) as error:
        return None, (f"note: no figure is drawn: {error}",)
    return Path(name), ()


def refuse_overwriting(outputs: Mapping[str, str | Path | None], texts: Sequence[str]) -> None:
    """Refuse, before any work, an output that is a file which the command reads, however both are spelled.

    Parameters
    ----------
    outputs : option -> where its file goes, or None.
    texts : what options and arguments name that may be a SPEC or a file.
    """
    present = [(option, Path(place)) for option, place in outputs.items() if place and os.path.exists(place)]
    for text in texts if present else ():
        for path in _list_files(text):
            for option, place in present:
                if _is_same(place, Path(path).expanduser()):
                    raise FileError(place, f"is read by this command ({option}); another file is accepted")


def _list_files(text: str) -> Iterator[str]:
    """What a SPEC may read: its file, the files that its parameters name, and those of SPECs in it."""
    from pe_spectra.spec import FileSpec, parse_spec, split_list

    yield text
    try:
        spec = parse_spec(text)
    except InputError:
        return  # refused in its turn, if it is a SPEC at all
    if isinstance(spec, FileSpec):
        yield spec.path
        return
    for _, value in spec.raw:
        for part in split_list(value):
            yield from _list_files(part)


def _is_same(output: Path, source: Path) -> bool:
    """Whether an output is a file that is read, or one of the files of a model that is read."""
    try:
        whole_model = source.is_dir() or source.name.endswith(".index.json")
        if whole_model and output.resolve().parent == (source if source.is_dir() else source.parent).resolve():
            return output.is_file()
        return os.path.samefile(output, source)
    except (OSError, ValueError):
        return False  # not there, or no possible name
