"""The tables of docs/quantities.md, made from the declarations: run this file to bring them up to date.

.venv/bin/python -m tests.pages.quantities
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pe_spectra.answers.documents import list_bodies
from pe_spectra.findings import Kind
from pe_spectra.inspection.portrait import TABLE_METRICS
from pe_spectra.metrics import METRICS
from pe_spectra.models.comparison.ways import WAYS
from pe_spectra.quantities import Quantity, Result, find_hint, list_types
from pe_spectra.series.deciding import RULES
from tests.places import ROOT

PAGE = ROOT / "docs" / "quantities.md"
TABLE = re.compile(r"<!-- quantities (?P<kind>[a-z-]+) -->\n(?P<table>.*?)<!-- /quantities -->", re.DOTALL)


def list_kinds(kind: type[Result]) -> Iterator[type[Result]]:
    """A kind of result and the kinds of its members, each once, in the order in which they are met."""
    seen: dict[type[Result], None] = {}
    waiting = [kind]
    while waiting:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen[one] = None
        for name in one.quantities():
            hints = list_types(find_hint(one, name))
            waiting += [hint for hint in hints if isinstance(hint, type) and issubclass(hint, Result)]
    return iter(seen)


def write_range(declared: Quantity) -> str:
    """The range of a number, in words; empty where it has none."""
    low = f"at least {declared.minimum:g}" if declared.minimum is not None else ""
    low = f"above {declared.above:g}" if declared.above is not None else low
    high = f"at most {declared.maximum:g}" if declared.maximum is not None else ""
    if declared.minimum is not None and declared.maximum is not None:
        return f"{declared.minimum:g} to {declared.maximum:g}"
    return ", ".join(part for part in (low, high) if part)


def write_row(name: str, declared: Quantity) -> str:
    """One line of a table: key, unit, meaning with its range and words."""
    text = declared.text.replace("|", "\\|").removesuffix(".") + "."
    named = [f"`{word}`" if word is not None else "null" for word in declared.words]
    more = f" {write_range(declared)}." if write_range(declared) else ""
    more += f" One of {', '.join(named)}." if named else ""
    keys = [f"`{key}`" for key in dict.fromkeys((declared.key or name, declared.column or declared.key or name))]
    if declared.key is None:
        keys = [f"`{declared.column or name}`"]
    elif declared.asked:
        keys = [f"`parameters.{name}`"]
    return f"| {' or '.join(keys)} | {declared.unit} | {text}{more[:1] + more[1:2].upper() + more[2:]} |\n"


def write_table(kind: str) -> str:
    """The tables of one kind of document, one for each record in it."""
    parts = []
    known: set[type[Result]] = set()
    for body in (one for one in list_bodies() if one.kind == kind):
        for one in list_kinds(body):
            rows = [write_row(name, declared) for name, declared in one.quantities().items() if not declared.inline]
            if one in known or not rows:
                continue
            known.add(one)
            title = (one.__doc__ or "").strip().splitlines()[0]
            parts.append(f"{title}\n\n| key | unit | what it is |\n|---|---|---|\n{''.join(rows)}")
    return "\n".join(parts)


def write_kinds(kinds: Iterable[Kind]) -> str:
    """The table of kinds of findings of a page.

    >>> seam = Kind(code="seam", levels=("note",), phrase="a break", reasoning="..", formula="a step above 3")
    >>> print(write_kinds([seam]).splitlines()[-1])
    | `seam` | note | a break: a step above 3 |
    """
    texts = ((kind, f"{kind.phrase}: {kind.formula}".replace("|", "\\|")) for kind in kinds)
    rows = (f"| `{kind.code}` | {' or '.join(kind.levels)} | {text} |\n" for kind, text in texts)
    return f"| code | level | what it means |\n|---|---|---|\n{''.join(rows)}"


def write_causes() -> str:
    """The table of the ways in which ports go wrong, of each code the first two sentences without their numbers."""
    said: dict[str, list[str]] = {}
    for way in WAYS:
        words = way.words.replace("{value:,}", "L").format(here="A", there="B", base=5e5, label="llama3 x8", own=8192)
        said.setdefault(way.code, []).append(re.sub(r" \(.*?\)| 10000", "", words))
    rows = (f"| `{code}` | {'; '.join(list(dict.fromkeys(words))[:2])} |\n" for code, words in said.items())
    return f"| code | what it says, as of B |\n|---|---|\n{''.join(rows)}"


def write_rules() -> str:
    """The table of the rules by which an encoding is chosen for a series."""
    rows = (f"| `{one.code}` | {one.text} | {one.reason} | {one.source} |\n" for one in RULES)
    return f"| rule | what it says | why | what that rests on |\n|---|---|---|---|\n{''.join(rows)}"


def write_metrics() -> str:
    """The table of the metrics of compare."""
    columns = "key | unit | what it is | better | of vectors times c | source"
    head = f"The metrics.\n\n| {columns} |\n|{'---|' * columns.count('|')}---|\n"
    scaled = {0: "the same", 1: "c times", 2: "c^2 times", -1: "1/c times"}
    rows = (
        f"{write_row(name, metric).removesuffix(chr(10))} {metric.better or 'neither'} | {scaled[metric.degree]} "
        f"| {metric.source} |\n"
        for name, metric in METRICS.items()
    )
    return head + "".join(rows)


def write_table_metrics() -> str:
    """The table of the numbers that inspect has of a table."""
    rows = (f"| `{name}` | {text} |\n" for name, text in TABLE_METRICS.items())
    return f"The metrics of a table.\n\n| key | what it is |\n|---|---|\n{''.join(rows)}"


#: Tables of what is no record: lists of numbers by name.
LISTS = {"metrics": write_metrics, "table-metrics": write_table_metrics}


def update(text: str) -> str:
    """Return the page with its tables made anew."""

    def write(found: re.Match[str]) -> str:
        kind = found["kind"]
        table = LISTS[kind]() if kind in LISTS else write_table(kind)
        return f"<!-- quantities {kind} -->\n{table}<!-- /quantities -->"

    return TABLE.sub(write, text)


if __name__ == "__main__":
    PAGE.write_text(update(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
