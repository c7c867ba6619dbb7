"""Values and tables in LaTeX, as its plain fonts and the page of its articles take them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import normalize

from pe_spectra.errors import shorten
from pe_spectra.faces import Cell, Columns, is_numeric, write_cell

#: Cells longer than this are broken into lines; a page takes so many lines of a table that does not continue.
_PROSE, _LINES_OF_PAGE = 40, 40
#: In characters: a line of an article, what lies between two columns, a name or sentence that is broken into lines at
#: the least, and a heading that is.
_LINE, _GAP, _NARROWEST, _HEADING = 62, 3, 16, 10
#: A character that the plain fonts lack, with its number. A definition of the author's own stands.
_LACKED = re.compile(r"\\lacked\{.\}\{([0-9A-F]+)\}")
_DEFINITION = r"""% a character that a font lacks is set as [U+number], unless defined: \newcommand{\lacked}[2]{#1}
\providecommand{\lacked}[2]{\ifdefined\Umathcode\iffontchar\font"#2 #1\else[U+#2]\fi\else[U+#2]\fi}
"""
#: Commands as they are written here, each of which is set as one character or as none, and powers of ten.
_COMMAND, _TIMES = re.compile(r"\$?\\(?:[A-Za-z]+(?:\{\}|\$)|.)"), re.compile(r" \\times 10\^|[${}]")
#: Behind what a name may be broken into lines, in a column that is.
_BREAKS, _AFTER = re.compile(r"(?<=[/.,:=-])(?=[^\s{}$\\.\d])|(?<=\\_)"), r"\\allowbreak{}"
#: What the plain fonts have beyond ASCII, each character with its command: in texts, signs of mathematics, and Greek,
#: of which some letters are those of Latin.
_TEXT = ("ßss", "æae", "ÆAE", "œoe", "ŒOE", "øo", "ØO", "łl", "ŁL", "ıi", "§S", "¶P", "£pounds", "©copyright")
_SIGNS = (
    *("±pm", "÷div", "·cdot", "≤leq", "≥geq", "≠neq", "≈approx", "≡equiv", "∞infty", "→rightarrow", "←leftarrow"),
    *("↔leftrightarrow", "⇒Rightarrow", "∈in", "∂partial", "∇nabla", "∑sum", "∏prod", "∫int", "∝propto", "√surd"),
)
_GREEK = (
    *("µmu", "αalpha", "βbeta", "γgamma", "δdelta", "εepsilon", "ζzeta", "ηeta", "θtheta", "ιiota", "κkappa"),
    *("λlambda", "μmu", "νnu", "ξxi", "πpi", "ρrho", "ςvarsigma", "σsigma", "τtau", "υupsilon", "φphi", "χchi"),
    *("ψpsi", "ωomega", "ΓGamma", "ΔDelta", "ΘTheta", "ΛLambda", "ΞXi", "ΠPi", "ΣSigma", "ΥUpsilon", "ΦPhi"),
    *("ΨPsi", "ΩOmega"),
)
_LATIN = zip("οΑΒΕΖΗΙΚΜΝΟΡΤΧ", "oABEZHIKMNOPTX", strict=True)
#: Characters that LaTeX reads as commands, or in the fonts of plain LaTeX sets as others.
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\u00d7": r"$\times$",
    "\u2212": "$-$",
    "\u2013": r"\textendash{}",
    "\u2014": r"\textemdash{}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}",
    "\u201c": r"\textquotedblleft{}",
    "\u201d": r"\textquotedblright{}",
    "\u2026": r"\ldots{}",
    "\u00a0": "~",
    **{word[0]: f"\\{word[1:]}{{}}" for word in _TEXT},
    **{word[0]: f"$\\{word[1:]}$" for word in (*_SIGNS, *_GREEK)},
    **dict(_LATIN),
    "¹": "$^1$", "²": "$^2$", "³": "$^3$", "°": r"$^\circ$", "¡": r"\textexclamdown{}", "¿": r"\textquestiondown{}",
}  # fmt: skip
#: What LaTeX sets as one character, and what it reads as an option of the line before.
_LIGATURES, _LATEX_START = re.compile(r"([-',])(?=\1)"), re.compile(r"^(?=[\[*])")
#: Marks that combine with the letter before them -> the accent of LaTeX that sets the two.
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0323": "d", "\u0331": "b",
}  # fmt: skip


def escape_latex(text: str) -> str:
    r"""Write a text so that LaTeX sets it as it is, plain LaTeX the characters that its fonts lack by their numbers.

    Those stand in a command that :func:`define_lacked` defines: XeLaTeX and LuaLaTeX set them where the font has them.

    >>> print(escape_latex("50 % of --x"), escape_latex("Fej\u00e9r, \u03c0"), ascii(escape_latex("\u4f4d")))
    50 \% of -{}-x Fej\'{e}r, $\pi$ '\\lacked{\u4f4d}{4F4D}'
    """
    safe = "".join(map(_write_character, text if text.isascii() else normalize("NFC", text)))
    return _LATEX_START.sub("{}", _LIGATURES.sub(r"\1{}", safe))


def _write_character(character: str) -> str:
    """Write a character by its command, else as accents on a letter, else by its number."""
    if character in _LATEX or character.isascii():
        return _LATEX.get(character, character)
    letter, *marks = [*normalize("NFD", character)]
    if marks and letter.isascii() and letter.isalpha() and _ACCENTS.keys() >= {*marks}:
        for mark in marks:
            letter = f"\\{_ACCENTS[mark]}{{{letter}}}"
        return letter
    number = f"{ord(character):04X}"
    # what shows nothing by itself, as marks of direction, is no letter that a font has
    return rf"\lacked{{{character}}}{{{number}}}" if character.isprintable() else f"[U+{number}]"


def define_lacked(text: str) -> str:
    r"""Put the command for characters that fonts lack before a part of a document that uses it.

    >>> define_lacked("Fejer"), define_lacked(escape_latex("\u4f4d")).count(r"\lacked")
    ('Fejer', 3)
    """
    return _DEFINITION + text if _LACKED.search(text) else text


def write_latex(columns: Columns, digits: int = 6, caption: str = "") -> str:
    r"""Write a table in LaTeX with the rules of booktabs; numbers are aligned to the right.

    With a caption it fits a page: where it is wider, its headings and then its texts are broken into lines, and then it
    is parted into tables that all begin with its first column; where it is longer, it is that of the package longtable.
    Without, it is one tabular.

    >>> print(write_latex({"s": [5], "share": ["50 %"], "least": [-1.5e-10]}))
    \begin{tabular}{rlr}
    \toprule
    s & share & least \\
    \midrule
    5 & 50 \% & $-1.5 \times 10^{-10}$ \\
    \bottomrule
    \end{tabular}
    """
    if not caption:
        forms = {name: "r" if is_numeric(cells) else "l" for name, cells in columns.items()}
        long = [name for name, cells in columns.items() if forms[name] == "l" and _find_widest(cells, digits) > _PROSE]
        forms.update(dict.fromkeys(long, _break(0.8 / max(1, len(long)))))
        return _write_tabular(columns, forms, digits, is_wide=False)
    widths = {name: max(len(name), _find_widest(cells, digits)) for name, cells in columns.items()}
    is_wide = sum(widths.values()) + _GAP * len(widths) > _LINE
    parts = [*_part(columns, digits)] if is_wide else [(columns, _choose_forms(columns, widths, {}))]
    title = rf"\caption{{{escape_latex(caption)}}}"
    if sum(_count_lines(part, digits) for part, _ in parts) > _LINES_OF_PAGE:
        tables = [_write_tabular(*part, digits, is_wide=is_wide, name="longtable") for part in parts]
        return "\n\n".join(tables).replace("\n", f"\n{title} \\\\\n", 1)
    tables = [_write_tabular(*part, digits, is_wide=is_wide) for part in parts]
    return "\n".join([r"\begin{table}", title, r"\centering", "\n\n\\medskip\n".join(tables), r"\end{table}"])


def _part(columns: Columns, digits: int) -> Iterator[tuple[Columns, Mapping[str, str]]]:
    """Part a table into some that each fit a line, with the forms of their columns; each begins with the first."""
    headings = {name: max(map(len, _break_heading(name))) for name in columns}
    widths = {name: max(headings[name], _find_widest(cells, digits)) for name, cells in columns.items()}
    broken = {name for name, cells in columns.items() if not is_numeric(cells) and widths[name] > _NARROWEST}
    least = {name: max(_NARROWEST, headings[name]) if name in broken else width for name, width in widths.items()}
    first, *others = columns
    chosen, room = [first], _LINE - _GAP - least[first]
    for name in [*others, None]:
        if name is not None and (len(chosen) == 1 or least[name] + _GAP <= room):
            chosen.append(name)
            room -= least[name] + _GAP
            continue
        share = {one: least[one] + max(0, room) / len(broken & {*chosen}) for one in chosen if one in broken}
        part = {one: columns[one] for one in chosen}
        yield part, _choose_forms(part, widths, share)
        if name is not None:
            chosen, room = [first, name], _LINE - 2 * _GAP - least[first] - least[name]


def _choose_forms(columns: Columns, widths: Mapping[str, int], share: Mapping[str, float]) -> dict[str, str]:
    """The form of each column: numbers to the right, texts to the left, on several lines where they need more room."""
    return {
        name: _break(share[name] / _LINE)
        if widths[name] > share.get(name, math.inf)
        else ("r" if is_numeric(cells) else "l")
        for name, cells in columns.items()
    }


def _break(share: float) -> str:
    """The form of a column whose cells are broken into lines, of a share of the line."""
    return rf"p{{{share:.2g}\linewidth}}"


def _break_heading(name: str) -> list[str]:
    """Break the name of a column into short lines, behind its strokes and blanks."""
    lines = [""]
    for word in re.findall(r"[^_ ]{,20}[_ ]?", shorten(name)):
        if len(lines[-1] + word) > _HEADING and lines[-1]:
            lines.append("")
        lines[-1] += word
    return [line.strip() for line in lines if line.strip()] or [name]


def _find_widest(cells: Sequence[Cell], digits: int) -> int:
    """The characters of the longest cell as it is set, powers of ten and numbers of characters included."""
    texts = (_LACKED.sub(r"[U+\1]", text) for text in _write_cells(cells, digits))
    return max((len(_TIMES.sub("x10", _COMMAND.sub("x", text))) for text in texts), default=0)


def _count_lines(columns: Columns, digits: int) -> int:
    """About how many lines a table has: those that its rows break into share what is longer than a line."""
    rows = zip(*(list(_write_cells(cells, digits)) for cells in columns.values()), strict=True)
    return sum(1 + sum(map(len, row)) // (2 * _LINE) for row in rows)


def _write_cells(cells: Sequence[Cell], digits: int) -> Iterator[str]:
    return (_write_latex_cell(cell, digits) for cell in cells)


def _write_tabular(
    columns: Columns, forms: Mapping[str, str], digits: int, *, is_wide: bool, name: str = "tabular"
) -> str:
    """Write one table; where `is_wide`, with headings on several lines."""
    write = _stack if is_wide else escape_latex
    head = " & ".join(map(write, columns)) + r" \\"
    cells = []
    for column, values in columns.items():
        texts = _write_cells(values, digits)
        is_broken = is_wide and forms[column].startswith("p")
        cells.append([rf"{{\raggedright {_BREAKS.sub(_AFTER, text)}\par}}" for text in texts] if is_broken else texts)
    rows = [f"{' & '.join(row)} \\\\" for row in zip(*cells, strict=True)]
    top = [rf"\begin{{{name}}}{{{''.join(forms.values())}}}", r"\toprule", head, r"\midrule"]
    ends = [r"\endhead"] if name == "longtable" else []
    return "\n".join([*top, *ends, *rows, r"\bottomrule", rf"\end{{{name}}}"])


def _stack(name: str) -> str:
    lines = [escape_latex(line) for line in _break_heading(name)]
    joined = r" \\ ".join(lines)
    return lines[0] if len(lines) == 1 else rf"\shortstack{{{joined}}}"


def _write_latex_cell(cell: Cell, digits: int) -> str:
    """A number with its sign and power of ten as mathematics has them; any other cell as text."""
    text = write_cell(cell, digits)
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
        return escape_latex(text)
    number, power, exponent = text.partition("e")
    if power:
        return rf"${number} \times 10^{{{int(exponent)}}}$"
    return f"${text}$" if text.startswith("-") else text
