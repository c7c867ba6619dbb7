"""The terminal: its streams and its width, and text made safe and narrow enough for it.

The only code that writes to standard output and standard error. Nothing in a name may steer a terminal or forge a line.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TextIO

from pe_spectra.errors import FileError
from pe_spectra.records import NamedTuple

if TYPE_CHECKING:
    from pe_spectra.answers.answer import Answer

#: What characters that we draw with become on a stream that is not UTF-8.
_PLAIN = str.maketrans("▁▂▃▄▅▆▇█▔▀░─│┤┼┬", "..:-=+*#'\"|-||++") | {ord("…"): "..."}
#: What a shell reads as one word.
_QUOTED = r"\"'\"|'[^']*'"
_CUT = "..."
#: White between columns, and before facts.
GAP = "  "
STYLES = {
    "ok": "bold green",
    "note": "bold cyan",
    "warning": "bold yellow",
    "error": "bold red",
    "heading": "bold",
    "label": "dim",
}
#: Characters of a line of text, at most: a longer one is not easily read. Tables may be wider.
_WIDEST = 110
_NARROWEST = 20
#: Columns and lines where nothing tells how many there are.
_USUAL = (100, 24)


def escape(text: str, limit: int | None = None) -> str:
    r"""Write control, direction and surrogate characters as escapes; cut to `limit` characters.

    >>> escape("a\x1b[31m" + chr(0x202e))
    'a\\x1b[31m\\u202e'
    """
    safe = text if text.isprintable() and "\\" not in text else text.translate(_list_escapes())
    return safe if limit is None or len(safe) <= limit else safe[: limit - 3] + "..."


@cache
def _list_escapes() -> dict[int, str]:
    bidirectional = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    unsafe = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *bidirectional, *range(0xD800, 0xE000))
    return {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in unsafe} | {0x5C: "\\\\"}


def to_ascii(text: str) -> str:
    """Write text for a stream that is not UTF-8.

    >>> to_ascii("█ ─ é")
    '# - \\\\xe9'
    """
    return text.translate(_PLAIN).encode("ascii", "backslashreplace").decode("ascii")


def guard_cell(text: str) -> str:
    """Escape a CSV cell, with an apostrophe before what a spreadsheet would run as a formula.

    >>> guard_cell("=1+1")
    "'=1+1"
    """
    safe = escape(text)
    return f"'{safe}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else safe


def measure(text: str) -> int:
    r"""Return the columns that a line takes: two for a wide character, none for one that combines with another.

    >>> measure("d = 8"), measure("\u4f4d\u7f6e"), measure("e\u0301")
    (5, 4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fold(text: str, width: int, indent: str = "", joint: str = "") -> list[str]:
    """Continue a text on further lines at its blanks; a word that is longer than a line is cut.

    Parameters
    ----------
    indent : before every line but the first. joint : at the end of every line but the last.

    >>> fold("no frequency lies above 1 rad", 14, "  ")
    ['no frequency', '  lies above 1', '  rad']
    """
    room = width - len(joint)
    lines: list[str] = []
    line: str | None = None
    for word in text.split(" "):
        longer = word if line is None else f"{line} {word}"
        if line is not None and line.strip() and measure(longer) > room:
            lines.append(line)
            longer = indent + word
        while measure(longer) > room and len(longer) > (least := len(indent) * bool(lines) + 1):
            kept = next((n for n in range(len(longer) - 1, least, -1) if measure(longer[:n]) <= room), least)
            lines.append(longer[:kept])
            longer = indent + longer[kept:]
        line = longer
    return [*(f"{one.rstrip()}{joint}" for one in lines), (line or "").rstrip()]


def shorten_paths(paths: Sequence[str], room: int) -> tuple[str, ...]:
    """Leave out folders in the middle of paths, never those by which two of them differ.

    >>> shorten_paths(["models/meta-llama/Llama-3.1-8B/config.json"], 32)
    ('.../Llama-3.1-8B/config.json',)
    >>> shorten_paths(["/models/a/llama/checkpoints/config.json", "/models/b/llama/checkpoints/config.json"], 24)
    ('.../a/.../config.json', '.../b/.../config.json')
    """
    long = [path for path in paths if measure(path) > room]
    shared = set.intersection(*(set(path.split("/")) for path in long)) if long else set()
    short = {path: _leave_out(path, room, shared if len(set(long)) > 1 else set(path.split("/"))) for path in long}
    found = tuple(short.get(path, path) for path in paths)
    return found if len(set(found)) == len(set(paths)) else tuple(paths)


def _leave_out(path: str, room: int, droppable: Collection[str]) -> str:
    """Leave out as few folders as it takes: those between the first and the last two, then the first, then the last."""
    short, parts = path, path.split("/")
    for place in (*range(1, len(parts) - 2), 0, len(parts) - 2):
        if 0 <= place < len(parts) - 1 and parts[place] in droppable:
            parts[place] = _CUT
        short = "/".join(part for part, before in zip(parts, ["", *parts], strict=False) if not part == before == _CUT)
        if measure(short) <= room:
            break
    return short


def write_answer(parts: Iterable[str]) -> bool:
    """Write the whole answer, part by part, to standard output and flush it; False when its reader has gone.

    Raises
    ------
    FileError : standard output is closed or full.
    """
    if sys.stdout is None:
        raise FileError("stdout", "is closed")
    try:
        keeps = is_unicode(sys.stdout)
        for part in parts:
            sys.stdout.write(part if keeps else to_ascii(part))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return False
    except (OSError, ValueError) as error:
        silence_stdout()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "cannot be written"
        raise FileError("stdout", reason.lower()) from error
    return True


def write_message(text: str) -> None:
    """Write one line to standard error; what cannot be written there is lost, and nothing else.

    On a terminal notes are continued at its width; a proposed command so that a shell reads it as one.
    """
    if sys.stderr is None:
        return
    try:
        if is_terminal(sys.stderr):
            text = _fold_message(text, min(_WIDEST, _measure_width()))
        sys.stderr.write((text if is_unicode(sys.stderr) else to_ascii(text)) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        _silence(sys.stderr)  # else the interpreter's last flush fails and changes the exit code


def count_lines(messages: Sequence[str], width: int) -> int:
    """Count the lines that messages take on a terminal.

    >>> count_lines(["note: drawn at random", "next: pe-spectra inspect alibi"], 20)
    4
    """
    return sum(-(-measure(line) // width) for text in messages for line in _fold_message(text, width).split("\n"))


def _fold_message(text: str, width: int) -> str:
    if not text.startswith("next: "):
        return "\n".join(fold(text, width, "  ")) if text.startswith("note: ") else text
    # a shell continues a line behind a backslash, but not within quotes
    whole = re.sub(_QUOTED, lambda quoted: quoted[0].replace(" ", "\0"), text)
    if max(map(measure, whole.split(" "))) > width - 4:
        return text
    return "\n".join(fold(whole, width, "  ", " \\")).replace("\0", " ")


def write_error(text: str) -> None:
    """Write an error as one line, with everything in it made safe to print."""
    write_message(escape(f"error: {text}"))


def silence_stdout() -> None:
    """Let nothing more reach standard output, so that the interpreter's last flush cannot fail."""
    _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, stream.fileno())
        os.close(sink)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person watches this stream."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:
        return False


def is_unicode(stream: TextIO | None) -> bool:
    """Whether the stream takes any character."""
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf8")


class Screen(NamedTuple):
    """What an answer is written for: a terminal of some width, or a pipe.

    Attributes
    ----------
    watched : whether the answer takes the form that people read; a pipe has the rows of CSV, in their order.
    hinted : whether a person watches who reads standard error, too.
    width, height : characters of a line, and lines; text_width : of a line of text, no more than is easily read.
    full : whether everything was asked for.
    """

    watched: bool
    hinted: bool
    width: int
    text_width: int
    height: int
    colour: bool
    unicode: bool
    full: bool

    def paint(self, text: str, style: str) -> str:
        """Write a text in one of the styles, where there is colour."""
        if not self.colour:
            return text
        from rich.color import ColorSystem
        from rich.style import Style

        return Style.parse(STYLES[style]).render(text, color_system=ColorSystem.STANDARD)


def look_at_screen(form: str, colour: str, *, full: bool, to_file: bool) -> Screen:
    """Describe where the answer goes.

    Parameters
    ----------
    form : the form of the answer.
    colour : of a table: auto, always or never.
    full : whether all rows were asked for.
    to_file : the answer goes to a file instead of standard output.
    """
    terminal = is_terminal(sys.stdout) and not to_file
    is_bright = colour == "always" or (colour == "auto" and terminal and not os.environ.get("NO_COLOR"))
    width = _measure_width()
    return Screen(
        watched=form == "table" and (terminal or is_bright),
        hinted=terminal and is_terminal(sys.stderr),
        width=width,
        text_width=min(_WIDEST, width),
        height=shutil.get_terminal_size(_USUAL).lines,
        colour=form == "table" and is_bright,
        unicode=to_file or is_unicode(sys.stdout),
        full=full,
    )


def _measure_width() -> int:
    return max(_NARROWEST, shutil.get_terminal_size(_USUAL).columns)


def write_head(answer: Answer, facts: Sequence[tuple[str, str]], screen: Screen, *, is_drawn: bool) -> list[str]:
    """Write what stands above the rows of an answer: its verdict, its curve, and facts; a list of lines."""
    verdict = answer.verdict
    lines = [screen.paint(line, verdict.level) for line in fold(escape(verdict.text), screen.text_width)]
    if answer.drawing is not None and is_drawn:
        from pe_spectra.cli.curve import draw_curve

        lines += ["", *draw_curve(answer.drawing, screen.text_width)]
    return [*lines, "", *_write_facts(facts, screen)] if facts else lines


def _write_facts(facts: Sequence[tuple[str, str]], screen: Screen) -> list[str]:
    """Write each fact; those of one group, "group: label", follow a line with its name."""
    width = screen.text_width
    parted = [
        (escape(group), escape(label), escape(text))
        for (group, _, label), text in ((name.rpartition(": "), text) for name, text in facts)
    ]
    widest = max(measure(label) for _, label, _ in parted)
    longest = max(measure(word) for _, _, text in parted for word in text.split(" "))
    beside = widest <= width * 2 // 5 and longest <= width - widest - 2 * len(GAP)  # so that no number is cut
    lines: list[str] = []
    last = ""
    for group, label, text in parted:
        if group != last:
            lines += [""] * bool(lines) + [screen.paint(one, "heading") for one in fold(group, width, GAP)] * bool(
                group
            )
        last = group
        start = GAP * bool(group)
        if beside:
            indent = start + " " * (widest + len(GAP))
            first, *others = fold(text, width - measure(indent))
            gap = " " * (widest - measure(label)) + GAP
            lines += [f"{start}{screen.paint(label, 'label')}{gap}{first}", *(indent + other for other in others)]
        else:
            first, *others = fold(f"{label}: {text}", width - len(start), GAP * 2)
            lines += [start + one for one in (first, *others)]
    return lines
