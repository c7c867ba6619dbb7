"""What a finding is, and what a kind of finding is: declared once, beside the check that makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType, ModuleType

from pe_spectra.quantities import Result, find_hint, is_result, list_types, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CODE_PATTERN, FINDING_LEVELS, RANKS, Level

#: JSON Schema of an object whose keys are names of its own.
OPEN_OBJECT: Mapping[str, object] = {
    "type": "object",
    "properties": {},
    "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
    "additionalProperties": True,
}
#: Kind of result -> its fields that may hold findings, once looked for.
_HOLDERS: dict[type[Result], tuple[str, ...]] = {}


@dataclass(frozen=True, kw_only=True)
class Finding(Result):
    """One thing that a reader should know."""

    level: Level = quantity("How much it should worry a reader.", words=FINDING_LEVELS)
    code: str = quantity("Stable name of this kind of finding; --explain has its reasoning.", pattern=CODE_PATTERN)
    message: str = quantity("The finding in one sentence, with its number.")
    data: Mapping[str, object] = quantity(
        "The numbers behind it, by names of its own.",
        default_factory=lambda: MappingProxyType({}),
        schema=OPEN_OBJECT,
        column=None,
    )


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of finding: everything that is said of all findings of one code.

    Attributes
    ----------
    code : stable name.
    levels : the levels that such a finding can have, the usual one first.
    phrase : what it says, in a few words, for headlines and lists.
    reasoning : why it is made and why it matters.
    formula : what is computed, with its thresholds.
    references : sources.
    keys : of a file, where a finding whose sentence names none of them stands.

    >>> zero = Kind(code="zero-rows", levels=("warning",), phrase="rows of zeros", reasoning="..", formula="..")
    >>> zero.find("Rows 3 to 5 are zero.", rows=(3, 5)).level
    'warning'
    """

    code: str
    levels: tuple[Level, ...]
    phrase: str
    reasoning: str
    formula: str
    references: tuple[str, ...] = field(default=())
    keys: tuple[str, ...] = field(default=())

    def find(self, message: str, /, *, level: Level | None = None, **data: object) -> Finding:
        """Make a finding of this kind; of the usual level unless told otherwise."""
        return Finding(
            level=self.choose_level(level), code=self.code, message=message, data=MappingProxyType(dict(data))
        )

    def choose_level(self, level: Level | None) -> Level:
        """Return the level of a finding, the usual one for None.

        Raises
        ------
        ValueError : a level that this kind does not have.
        """
        if level is not None and level not in self.levels:
            raise ValueError(f"{self.code} is never of level {level}")
        return level or self.levels[0]


def collect_kinds(*modules: ModuleType) -> dict[str, Kind]:
    """Return the kinds of findings that modules declare, by code.

    Raises
    ------
    ValueError : two kinds with one code.

    >>> from pe_spectra.models.stated import passed_keys
    >>> collect_kinds(passed_keys)["nested-config"].levels
    ('note',)
    """
    found: dict[str, Kind] = {}
    for kind in dict.fromkeys(one for module in modules for one in vars(module).values() if isinstance(one, Kind)):
        if kind.code in found:
            raise ValueError(f"two kinds of findings are called {kind.code}")
        found[kind.code] = kind
    return found


def list_failures(findings: Iterable[Finding], level: Level | None) -> tuple[str, ...]:
    """Return a sentence for each finding of `level` or above, for --fail-on; for None there is none.

    >>> found = [Finding(level=level, code=f"a-{level}", message="") for level in FINDING_LEVELS]
    >>> list_failures(found, "error")
    ('finding of level error: a-error',)
    """
    least = len(RANKS) if level is None else RANKS[level]
    return tuple(f"finding of level {f.level}: {f.code}" for f in findings if RANKS[f.level] >= least)


def collect_findings(result: Result, file: str = "") -> Iterator[tuple[str, Finding]]:
    """Go through every finding that a result holds, with the file that it is about; empty where none is named.

    >>> [(file, one.code) for file, one in collect_findings(Finding(level="note", code="some-code", message=""))]
    [('', 'some-code')]
    """
    if isinstance(result, Finding):
        yield file, result
        return
    file = str(getattr(result, "file", file))
    for name in _find_holders(type(result)):
        value = getattr(result, name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Result):
                yield from collect_findings(one, file)


def _find_holders(kind: type[Result]) -> tuple[str, ...]:
    """The fields that may hold findings, or results with findings; others, as a thousand pairs, are not looked at."""
    if kind not in _HOLDERS:
        _HOLDERS[kind] = tuple(name for name in kind.quantities() if _may_hold(kind, name, ()))
    return _HOLDERS[kind]


def _may_hold(kind: type[Result], name: str, above: tuple[type[Result], ...]) -> bool:
    """Whether a field may hold a finding, at any depth; `above` are the kinds that it stands in."""
    members = [one for one in list_types(find_hint(kind, name)) if is_result(one) and one not in (kind, *above)]
    return any(
        issubclass(one, Finding) or any(_may_hold(one, inner, (kind, *above)) for inner in one.quantities())
        for one in members
    )
