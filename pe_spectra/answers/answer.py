"""The form that every answer takes, before it is printed in any format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from pe_spectra._version import __version__
from pe_spectra.encodings import Encoding
from pe_spectra.exact import F64
from pe_spectra.faces import Columns, simplify
from pe_spectra.quantities import Document, Result, quantity, tabulate
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CODE_PATTERN, LEVELS, Level
from pe_spectra.wording import join, quote_word

if TYPE_CHECKING:  # most answers are about no file
    from pe_spectra.answers.annotations import Annotations

_Item = TypeVar("_Item")

SCHEMA = "pe-spectra/1"
#: Of so many things that an answer compares, a terminal draws the first; of more it has a line for each.
MOST_DRAWN = 2
#: Of a fact, which is left out where it has none.
_TEXT = itemgetter(1)


@dataclass(frozen=True, kw_only=True)
class Verdict(Result):
    """The answer in one sentence, and two words for programs."""

    level: str = quantity("How much it should worry a reader.", words=LEVELS)
    code: str = quantity("Stable name of this verdict, in lower case with hyphens.", pattern=CODE_PATTERN)
    text: str = quantity("The sentence, as the first line of a table has it.")


class Verdicts(dict[str, Level]):
    """Every verdict that one kind of answer can have besides its findings: code -> level.

    >>> Verdicts(flat="ok").say("flat", "Flat: all 129 frequencies have the same weight.")
    Verdict(level='ok', code='flat', text='Flat: all 129 frequencies have the same weight.')
    """

    def say(self, code: str, text: str) -> Verdict:
        """Make the verdict of a code."""
        return Verdict(level=self[code], code=code, text=text)


@dataclass(frozen=True, kw_only=True)
class Body(Result):
    """The fields of a JSON document that are its kind's own."""

    kind: ClassVar[str]
    #: Whether a figure can be drawn of it.
    draws: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A curve to draw in characters; where several samples share a column, their range (or the smallest) is seen.

    `ticks` are places along the axis, 0 to 1, and their labels.
    """

    title: str
    values: Sequence[float] | F64
    ticks: tuple[tuple[float, str], ...]
    smallest: bool = False


@dataclass(frozen=True, eq=False)
class Later(Sequence[_Item]):
    """A sequence that is made when somebody looks into it: JSON and CSV have no facts.

    >>> Later(lambda: [1, 2])[1]
    2
    """

    make: Callable[[], Iterable[_Item]]

    @cached_property
    def _items(self) -> tuple[_Item, ...]:
        return tuple(self.make())

    @overload
    def __getitem__(self, place: int) -> _Item: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[_Item]: ...

    def __getitem__(self, place: int | slice) -> _Item | Sequence[_Item]:
        return self._items[place]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[_Item]:
        return iter(self._items)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of the program.

    Attributes
    ----------
    body : what JSON has of this kind of answer.
    verdict : the first line.
    results : the results whose declared numbers are the rows of tables and CSV.
    constant : columns of these that are left out, where the answer is about one thing and says them once.
    table : the rows by column, where they are not those of `results`; a function where they may not be asked for.
    beside : a second table below the rows, by column, where an answer is shown as tables.
    total : how many rows there are, where that is known without making them.
    facts : label and text, for a terminal, each a number that carries the answer with its unit; those labelled
        "group: label" are printed together, one without a text is left out.
    details : further facts of long answers, as definitions: in a pipe, and on a terminal with --full.
    notes : known problems of the numbers, and why a value is missing.
    remarks : notes that a terminal has among the details. noted : whether they are there already, as in a copy.
    shown : the columns that a terminal shows (all of them in a pipe and in CSV); empty for all.
    rows : what a terminal shows unless --full asks for all: all rows, none, or what fits it, at most 12; of these
        the curve and the last facts give way, too.
    digits : significant digits of the numbers of the rows on a terminal.
    narrow : the columns whose texts a narrow terminal may shorten or break.
    spelled : what a terminal writes in place of some words of the rows.
    drawing : a picture in characters, on a terminal.
    last : a line below the rows, in a table.
    next_command : what to try next, on a terminal.
    failed : the checks asked for that do not hold: exit code 1.
    annotations : of an answer about files, the findings with their places; None where they were not asked for.
    """

    body: Body
    verdict: Verdict
    results: Sequence[Result] = ()
    constant: Sequence[str] = ()
    table: Columns | Callable[[], Columns] = field(default_factory=dict)
    beside: Columns = field(default_factory=dict)
    total: int | None = None
    facts: Sequence[tuple[str, str]] = ()
    details: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    noted: bool = False
    shown: Sequence[str] = ()
    rows: Literal["all", "none", "fitting"] = "fitting"
    digits: int = 6
    narrow: Sequence[str] = ()
    spelled: Mapping[str, str] = field(default_factory=dict)
    drawing: Drawing | None = None
    last: str = ""
    next_command: str = ""
    failed: Sequence[str] = ()
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        new = () if self.noted else zip(repeat("note"), self.remarks, strict=False)
        object.__setattr__(self, "noted", True)
        object.__setattr__(self, "notes", tuple(dict.fromkeys(self.notes)))
        for name, given in (("facts", self.facts), ("details", chain(self.details, new))):
            kept = partial(filter, _TEXT, given)
            is_late = isinstance(getattr(self, name), Later)
            object.__setattr__(self, name, Later(kept) if is_late else tuple(kept()))

    @cached_property
    def columns(self) -> Columns:
        """The rows by column; made when they are asked for, as JSON and a terminal that shows none never do."""
        if self.table:
            return self.table() if callable(self.table) else self.table
        return {name: cells for name, cells in tabulate(self.results).items() if name not in self.constant}

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), ())) if self.total is None else self.total

    @cached_property
    def second(self) -> Answer:
        """Its second table as an answer, whose rows that is."""
        return replace(self, table=self.beside, shown=(), total=None, beside={})

    @property
    def kind(self) -> str:
        """Which of the documents of the JSON Schema it is."""
        return self.body.kind

    @property
    def title(self) -> str:
        """What stands above a figure of it."""
        return self.verdict.text.removesuffix(".")

    def to_document(self, figure: str | None) -> Document:
        """Return the JSON document, with the path of the figure that was written."""
        document: Document = simplify(self.to_values(figure))
        return document

    def to_values(self, figure: str | None) -> Document:
        """Return the values of the JSON document, arrays and results as they are; `figure` is the path of one."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "version": __version__,
            "verdict": self.verdict,
            "parameters": {},  # of a kind that cannot be asked for anything
            **self.body.to_values(),
            "figure": figure,
            "notes": list(dict.fromkeys((*self.failed, *self.notes, *self.remarks))),
        }


def name_apart(encoding: Encoding, among: Sequence[Encoding]) -> str:
    """Return the name of an encoding; its label for a table, and where another of `among` has the same name.

    >>> from pe_spectra import Dft
    >>> name_apart(Dft(d=8), [Dft(d=8)]), name_apart(Dft(d=8), [Dft(d=8), Dft(d=16)])
    ('dft', 'dft d=8')
    """
    is_shared = any(one.name == encoding.name and one != encoding for one in among)
    return encoding.label if is_shared or encoding.family == "learned" else encoding.name


def propose(command: str, encoding: Encoding) -> str:
    """Write the command to try next on an encoding; of its parameters those that have not their defaults.

    >>> from pe_spectra import Dft
    >>> propose("inspect", Dft(d=8)), propose("spectrum -e", Dft())
    ('pe-spectra inspect dft:d=8', 'pe-spectra spectrum -e dft')
    """
    return f"pe-spectra {command} {quote_word(encoding.write_spec(brief=True))}"


def gather_notes(noted: Iterable[tuple[str, str]], every: Iterable[str]) -> tuple[str, ...]:
    """Say each note once, with the names of those of `every` that it is about; with none where that is all of them.

    >>> gather_notes([("a", "x"), ("b", "x"), ("b", "y")], ["a", "b"])
    ('x', 'b: y')
    """
    found: dict[str, list[str]] = {}
    for name, note in noted:
        found.setdefault(note, []).append(name)
    together = set(every)
    return tuple(
        note if set(names) == together else f"{join(list(dict.fromkeys(names)))}: {note}"
        for note, names in found.items()
    )


def quantity_of_all(text: str, kind: str, **bounds: float) -> Any:
    """Declare a number that was asked for: that of all rows, or a list of those of the rows, as :func:`agree` gives it.

    >>> quantity_of_all("Number of positions S", "integer", minimum=1).metadata["quantity"].schema["minItems"]
    1
    """
    return quantity(
        f"{text}, where it is the same for all rows, else a list of those of the rows.",
        schema={"type": [kind, "array"], **bounds, "items": {"type": kind, **bounds}, "minItems": 1},
        asked=True,
    )


def group_facts(named: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> list[tuple[str, str]]:
    """Label the facts about each of several things with its name, so that they are printed together.

    >>> group_facts([("dft", [("rank", "8")]), ("", [("rank", "9")])])
    [('dft: rank', '8'), ('rank', '9')]
    """
    return [(f"{name}: {label}" if name else label, text) for name, facts in named for label, text in facts]


def agree(values: Sequence[float | None]) -> object:
    """Return the value that all rows have, or the list of them.

    >>> agree([80, 80]), agree([80, 256])
    (80, [80, 256])
    """
    return values[0] if len(set(values)) == 1 else list(values)
