"""The implementations that are known, release by release, as an answer: what each takes and how that is known."""

from __future__ import annotations

from pe_spectra.answers.answer import Answer, Body, Verdicts
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS, Stack, list_releases
from pe_spectra.models.stated.statement import LAYOUTS, Configuration, LayerStatement
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count

VERDICTS = Verdicts({"stacks": "ok"})
#: How a release can be known.
_HOW = ("measured", "read")
#: The width of a head of the files that are asked about, their length, and model types of one layout and the other.
_WIDTH, _LENGTH, _FAMILIES = 8, 64, ("llama", "qwen2")


@dataclass(frozen=True, kw_only=True)
class ReleaseRow(Result):
    """One release of an implementation."""

    name: str = quantity("Name as --stack takes it; alone it means the newest release.", column="stack")
    version: str | None = quantity("Version or commit, as in --stack NAME==VERSION; null where none are told apart.")
    title: str = quantity("What it is called in answers.", column=None)
    package: str | None = quantity("What pip installs it as; null where it does not.", column=None)
    date: str | None = quantity("When it was measured or read; null of a paper.")
    how: str = quantity("Measured by running it, or read from its source.", words=_HOW)
    source: str = quantity("The files, with version or commit.", column=None)
    reads_gguf: bool = quantity("Whether it reads GGUF files, too.", column=None)
    layouts: tuple[str, ...] = quantity(
        "How it can pair channels, of a plain ladder.", words=LAYOUTS, least=1, unique=True, write=", ".join
    )
    scalings: tuple[str, ...] = quantity(
        "Each rope_type that it knows; a model's class can refuse some.", least=1, unique=True, write=", ".join
    )
    refuses_others: bool = quantity("Whether it refuses another rope_type; else it leaves it unscaled.", column=None)


@dataclass(frozen=True, kw_only=True)
class StacksBody(Body):
    """The implementations that are known, release by release."""

    kind = "stacks"
    draws = False
    rows: tuple[ReleaseRow, ...] = quantity("One for each release, the newest of an implementation first.", least=1)


def answer_stacks() -> Answer:
    """Turn the list of known implementations into an answer, one row for each release.

    >>> answer_stacks().columns["stack"][:3]
    ['transformers-5', 'transformers-4', 'vllm']
    """
    rows = tuple(map(_describe, list_releases()))
    shows = "diff CONFIG --stack NAME reads a file as the newest, NAME==VERSION as one release does"
    return Answer(
        body=StacksBody(rows=rows),
        verdict=VERDICTS.say("stacks", f"{count(len(rows), 'release')} of {len(STACKS)} implementations; {shows}."),
        results=rows,
        rows="all",
        next_command="pe-spectra diff CONFIG --all-stacks",
    )


def _describe(stack: Stack) -> ReleaseRow:
    return ReleaseRow(
        name=stack.name,
        version=stack.version or None,
        title=stack.title,
        package=stack.package or None,
        date=stack.date or None,
        how=stack.how,
        source=stack.source,
        reads_gguf=stack.read_gguf is not None,
        layouts=_find_layouts(stack),
        scalings=stack.kinds,
        refuses_others=not stack.unknown,
    )


def _find_layouts(stack: Stack) -> tuple[str, ...]:
    """Ask it what it makes of files of either layout."""
    asked = [(model, LayerStatement(head_dim=_WIDTH, layout=layout)) for model in _FAMILIES for layout in LAYOUTS]
    plain = [
        Configuration(path="", format=stack.formats[0], model=model, scheme="rotary", length=_LENGTH, layers=(one,))
        for model, one in asked
    ]
    read = [stack.read(one, one.layers[0], None) for one in plain]
    found = {rotation.layout for rotation in read if isinstance(rotation, Rotation)}
    return tuple(layout for layout in LAYOUTS if layout in found)
