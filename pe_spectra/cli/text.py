"""Text from outside made safe to print: nothing in a name may steer a terminal or forge a line."""

from __future__ import annotations

_BIDIRECTIONAL = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSAFE = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_BIDIRECTIONAL, *range(0xD800, 0xE000))
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _UNSAFE} | {0x5C: "\\\\"}
#: What characters that we draw with become on a stream that is not UTF-8.
_PLAIN = str.maketrans(
    {
        "▁": ".",
        "▂": ".",
        "▃": ":",
        "▄": "-",
        "▅": "=",
        "▆": "+",
        "▇": "*",
        "█": "#",
        "─": "-",
        "│": "|",
        "┤": "|",
        "┼": "+",
        "┬": "+",
        "…": "...",
    }
)


def escape(text: str, limit: int | None = None) -> str:
    r"""Write control, direction and surrogate characters as escapes; cut to `limit` characters.

    >>> escape("a\x1b[31m" + chr(0x202e))
    'a\\x1b[31m\\u202e'
    """
    safe = text.translate(_ESCAPES)
    return safe if limit is None or len(safe) <= limit else safe[: limit - 3] + "..."


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
