"""Answers as documents for other programs: Markdown, LaTeX and HTML.

Each has the verdict, the facts and every row, with the digits and columns that a terminal shows. Names from files are
text in each: none becomes markup or a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape as escape_html

from pe_spectra.answers.answer import Answer
from pe_spectra.cli.terminal import escape
from pe_spectra.errors import shorten
from pe_spectra.faces import Columns, escape_markdown, write_html, write_markdown
from pe_spectra.latex import define_lacked, escape_latex, write_latex
from pe_spectra.records import NamedTuple
from pe_spectra.vocabulary import ANNOTATION_FORMATS

#: Characters of a caption: LaTeX measures it on one line, which must not be longer than its largest length.
_CAPTION = 1000
#: A word of a SPEC, a path or a key that TeX would set beyond the margin, and where it may go on in a line below.
_LONG, _JOINTS = re.compile(r"\S{30,}"), re.compile(r"(?<=[,;=+/_:&?-])(?=.)")


class Content(NamedTuple):
    """What a document says, in texts without control characters; empty for what an answer does not have."""

    verdict: str
    facts: list[tuple[str, str]]
    columns: Columns
    beside: Columns
    last: str
    digits: int


def write_document(answer: Answer, form: str, *, full: bool) -> str:
    """Write an answer in one of the languages of `WRITERS`; where `full`, with all its columns and details.

    The forms of findings alone are those of :mod:`pe_spectra.cli.annotating`.
    """
    if answer.annotations is not None and form in ANNOTATION_FORMATS:
        from pe_spectra.cli.annotating import write_annotations

        return write_annotations(answer.annotations, form)
    return WRITERS[form](describe(answer, full=full)) + "\n"


def describe(answer: Answer, *, full: bool) -> Content:
    """Return what a document says of an answer, without control characters; where `full`, all columns and details."""
    names = answer.columns if full or not answer.shown else answer.shown
    facts = [*answer.facts, *(answer.details if full else ())]
    return Content(
        verdict=escape(answer.verdict.text),
        facts=[(escape(label), escape(text)) for label, text in facts],
        columns=_escape_columns({name: answer.columns[name] for name in names}),
        beside=_escape_columns(answer.beside),
        last=escape(answer.last),
        digits=answer.digits,
    )


def _escape_columns(columns: Columns) -> Columns:
    """The columns without control characters; none where they have no rows."""
    if not any(map(len, columns.values())):
        return {}
    return {
        escape(name): [escape(cell) if isinstance(cell, str) else cell for cell in cells]
        for name, cells in columns.items()
    }


def _write_markdown(content: Content) -> str:
    facts = [f"- {escape_markdown(label, starts=True)}: {escape_markdown(text)}" for label, text in content.facts]
    tables = [write_markdown(one, content.digits) for one in (content.columns, content.beside) if one]
    first, last = (escape_markdown(text, starts=True) for text in (content.verdict, content.last))
    return "\n\n".join(filter(None, (first, "\n".join(facts), *tables, last)))


def _write_latex(content: Content) -> str:
    """A part of a document, to be included in one: the verdict, above rows as their caption, and facts as a list."""
    needed = r"% needs \usepackage{booktabs,longtable}"
    verdict, *others = (_let_break(text) for text in (content.verdict, content.last))
    if content.columns:
        verdict = (
            f"{needed}\n{write_latex(content.columns, content.digits, caption=shorten(content.verdict, _CAPTION))}"
        )
    facts = [rf"\item[{{{escape_latex(label)}}}] {_let_break(text)}" for label, text in content.facts]
    described = "\n".join([r"\begin{description}\sloppy", *facts, r"\end{description}"]) if facts else ""
    beside = write_latex(content.beside, content.digits) if content.beside else ""
    return define_lacked("\n\n".join(filter(None, (verdict, described, beside, *others))))


def _let_break(text: str) -> str:
    """Write a text that LaTeX sets in lines; its longest words may be continued behind their signs.

    There the line of the file ends, too: TeX reads no more than 200,000 characters of one.
    """
    words = (_JOINTS.split(word) if _LONG.fullmatch(word) else [word] for word in text.split(" "))
    return " ".join("\\allowbreak\n".join(map(escape_latex, parts)) for parts in words)


def _write_html(content: Content) -> str:
    """A whole page."""
    title = escape_html(content.verdict)
    facts = "\n".join(f"<dt>{escape_html(label)}</dt><dd>{escape_html(text)}</dd>" for label, text in content.facts)
    body = [f"<p>{title}</p>"]
    body += [f"<dl>\n{facts}\n</dl>"] if facts else []
    body += [write_html(one, content.digits) for one in (content.columns, content.beside) if one]
    body += [f"<p>{escape_html(content.last)}</p>"] if content.last else []
    head = f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n'
    return head + "\n".join(body) + "\n</body>\n</html>"


#: Form of an answer -> what writes it so.
WRITERS: Mapping[str, Callable[[Content], str]] = {
    "markdown": _write_markdown,
    "latex": _write_latex,
    "html": _write_html,
}
