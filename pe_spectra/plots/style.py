"""How every figure looks: colours, line styles, sizes, fixed parameters, text from outside.

The colours are those of Okabe and Ito (2008), told apart by readers with any colour vision; yellow is
left out, being too pale for a line on white. Each curve also has a line style, so that a grey print
still tells them apart.
"""

from __future__ import annotations

import contextlib
import functools
import re
import unicodedata
import warnings
from collections.abc import Iterator
from typing import Any, TypedDict

import matplotlib
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import TextToPath

from pe_spectra.plots.choices import find_options
from pe_spectra.wording import leave_out_words, shorten

COLUMN_WIDTH = 3.4  # inches: one column of a journal
PAGE_WIDTH = 7.0  # inches: both columns

TITLE_SIZE = 8.5  # points
#: Share of a line by which letters may be wider in pixels.
_ROUNDED = 0.015
LABEL_SIZE = 8.0
TICK_SIZE = 7.5
SMALL_SIZE = 7.0  # nothing is smaller

BLACK = "#000000"
VERMILION = "#D55E00"
BLUE = "#0072B2"
GREEN = "#009E73"
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
PURPLE = "#CC79A7"
GREY = "#595959"  # for what is not data: 7 : 1 against white

_COLOURS = (BLACK, BLUE, GREEN, PURPLE, ORANGE, SKY_BLUE)
DashPattern = str | tuple[float, tuple[float, ...]]

_LINE_STYLES: tuple[DashPattern, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (9, 2)),
    (0, (4, 1.2, 1.2, 1.2, 1.2, 1.2)),
    (0, (8, 1.5, 3, 1.5)),
)

FONT_FAMILY = "DejaVu Sans"  # Matplotlib brings it along, and its own copy wins
LONGEST_TEXT = 60  # characters of one piece of text from outside

_FIXED = {
    "font.family": [FONT_FAMILY],
    "font.size": LABEL_SIZE,
    "axes.labelsize": LABEL_SIZE,
    "axes.titlesize": LABEL_SIZE,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.use_locale": False,
    "xtick.labelsize": TICK_SIZE,
    "ytick.labelsize": TICK_SIZE,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "legend.fontsize": TICK_SIZE,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "svg.fonttype": "path",  # looks the same without the font
    "svg.hashsalt": "pe-spectra",
    "pdf.fonttype": 42,  # TrueType: many journals refuse Type 3
}


@contextlib.contextmanager
def fixed_style() -> Iterator[None]:
    """Draw with Matplotlib's own defaults, ours and a style that was asked for; then put all back.

    A matplotlibrc counts only where it is that style.
    """
    default = matplotlib.rcParamsDefault
    kept = {key: default[key] for key in default if key != "backend"}  # the host's, never used here
    current: Any = matplotlib.rcParams  # newer releases list every key in its type, older ones do not
    with matplotlib.rc_context():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
            current.update(kept)
        current.update(_FIXED)
        current.update(find_options().style)
        yield


class LineStyle(TypedDict):
    """How one curve is drawn, in Matplotlib's words."""

    color: str
    linestyle: DashPattern


#: Of the curve that others are compared with.
REFERENCE_STYLE: LineStyle = {"color": VERMILION, "linestyle": (0, (6, 2))}


def curve_style(index: int) -> LineStyle:
    """Colour and line style of the curve number `index`: no pair comes twice within thirty curves.

    The colours are those of a style that was asked for, where it has any.
    """
    cycle = find_options().style.get("axes.prop_cycle")
    colours = (cycle.by_key().get("color") if cycle is not None else None) or _COLOURS
    return {
        "color": colours[index % len(colours)],
        "linestyle": _LINE_STYLES[index % len(_LINE_STYLES)],
    }


def escape_text(text: str, *, longest: int = LONGEST_TEXT) -> str:
    r"""Text from outside, made safe to draw: no mathematics, no control characters, no empty boxes.

    `$` becomes `\$`, which Matplotlib draws as a dollar sign. Control and format characters (C0, DEL, C1,
    separators of lines, bidirectional marks), lone surrogates, the backslash and what the font cannot
    draw become `\xNN`, `\uNNNN` or `\UNNNNNNNN`. Beyond `longest` characters the middle is left out, in
    whole words where they are short enough.
    """
    text = shorten(text, longest)
    font = get_font(findfont(FontProperties(family=[FONT_FAMILY])))
    drawable = {character: bool(font.get_char_index(ord(character))) for character in set(text)}
    return "".join(_escape_character(character, drawable[character]) for character in text)


def escape_sentence(text: str) -> str:
    r"""A sentence with names from outside in it, made safe to draw as :func:`escape_text` does, in full.

    >>> escape_sentence("my$table: 3 of 4")
    'my\\$table: 3 of 4'
    """
    return escape_text(text, longest=len(text))


def _escape_character(character: str, drawable: bool) -> str:
    if character == "$":
        return r"\$"
    category = unicodedata.category(character)
    if drawable and character != "\\" and category[0] != "C" and category not in ("Zl", "Zp"):
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


@functools.lru_cache(maxsize=4096)
def measure_text(text: str, size: float) -> float:
    """Width of one line of text in inches, set in `size` points."""
    properties = FontProperties(family=[FONT_FAMILY], size=size)
    width, _, _ = TextToPath().get_text_width_height_descent(text, properties, ismath=False)
    return float(width) / 72


def line_pitch(size: float) -> float:
    """Inches from one line of text to the next."""
    return 1.35 * size / 72


def wrap_text(text: str, size: float, width: float) -> tuple[str, ...]:
    """Break text into lines of at most `width` inches; a word that is too long is broken as well."""
    space = measure_text("n n", size) - measure_text("nn", size)
    lines: list[str] = []
    used = width
    for word in filter(None, text.split(" ")):  # not at spaces that do not break
        needed = measure_text(word, size)
        if used + space + needed <= width:
            lines[-1] += f" {word}"
            used += space + needed
        else:
            lines.extend(_break_word(word, size, width) if needed > width else [word])
            used = measure_text(lines[-1], size)
    return tuple(lines)


def balance_text(text: str, size: float, width: float) -> tuple[str, ...]:
    """Break text into as few lines as `wrap_text`, of about the same length.

    Few pixels to the inch widen letters, for which a part of the line is left.
    """
    width *= 1 - _ROUNDED
    lines = wrap_text(text, size, width)
    narrower = width
    while len(lines) > 1 and narrower > width / 2:
        narrower -= width / 50
        tried = wrap_text(text, size, narrower)
        if len(tried) > len(lines):
            break
        lines = tried
    return lines


def _split_units(text: str) -> list[str]:
    """Characters, with an escaped dollar sign as one: half of it would start mathematics."""
    return re.findall(r"\\\$|.", text, flags=re.DOTALL)


def _break_word(word: str, size: float, width: float) -> list[str]:
    pieces = [""]
    for unit in _split_units(word):
        if pieces[-1] and measure_text(pieces[-1] + unit, size) > width:
            pieces.append("")
        pieces[-1] += unit
    return pieces


def shorten_text(text: str, size: float, width: float) -> str:
    """Leave out the middle of a line that is wider than `width` inches, in whole words where they are short enough.

    >>> shorten_text("rope d=128 base=10000 scaling=llama3 factor=8", 7.0, 2.0)
    'rope d=128 … scaling=llama3 factor=8'
    """
    units = _split_units(text)
    kept = len(units)
    shortened = text
    while kept > 2 and measure_text(shortened, size) > width:
        kept -= 1
        head = (kept + 1) // 2
        shortened = "".join([*units[:head], "…", *units[len(units) - (kept - head) :]])
    if kept == len(units):
        return text
    return leave_out_words(text, lambda tried: measure_text(tried, size) <= width, shortened)
