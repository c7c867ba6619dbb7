"""The fixture `pe_spectra_check`: what a model, an array or a file gives must be what was frozen beside the test.

Nothing of the package is loaded until a test asks for the fixture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pe_spectra.answers.answer import Answer

UPDATE = "--pe-spectra-update"
_TOLERANCE, _FOLDER, _MARK = "pe_spectra_tolerance", "pe_spectra_folder", "pe_spectra"
#: What the marker takes.
_TAKES = ("tolerance", "accept")
#: When this run began, in seconds: a file that is newer was written by one of its tests, on whichever worker.
_BEGAN = pytest.StashKey[float]()
#: What tests of this run have frozen, by file and name, with the test that did first.
_HELD = pytest.StashKey[dict[tuple[Path, str], str]]()
#: Lines of what changed that a failure shows; of more it says how many.
_MOST = 8


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option that freezes anew, and the settings."""
    group = parser.getgroup("pe-spectra")
    group.addoption(
        UPDATE, action="store_true", help="write the frozen files of pe_spectra_check anew, in place of failing"
    )
    parser.addini(_TOLERANCE, "largest relative difference of numbers that count as equal", default="")
    parser.addini(_FOLDER, "folder of the frozen files, from the root; by default that of the test", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and read the settings."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(tolerance=.., accept={{code: reason}}): how pe_spectra_check compares in this test",
    )
    config.stash[_BEGAN], config.stash[_HELD] = time.time(), {}
    _read_tolerance(config)


def _read_tolerance(config: pytest.Config) -> float | None:
    stated = config.getini(_TOLERANCE)
    try:
        return float(stated) if stated else None
    except ValueError:
        raise pytest.UsageError(f"{_TOLERANCE} is no number ({stated}); one from 0 to 0.99 is accepted") from None


@pytest.fixture
def pe_spectra_check(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Check a subject against a frozen file: `pe_spectra_check(model, "rope.json")`.

    The subject is what `pe_spectra.check` takes: a module or a model that runs, a function of positions, an array, an
    encoding, a file, a SPEC. The file lies beside the test, or in the folder of the ini option pe_spectra_folder. Where
    it differs the test fails, and says what changed; with --pe-spectra-update the file is written anew.
    """
    settings = {"tolerance": _read_tolerance(request.config), "accept": None, **_read_marks(request)}
    folder = request.config.getini(_FOLDER)
    home = request.config.rootpath / folder if folder else request.path.parent

    def check(
        subject: Any, file: str | Path, *, tolerance: float | None = None, accept: Mapping[str, str] | None = None
    ) -> None:
        __tracebackhide__ = True
        asked = {**settings, **({} if tolerance is None else {"tolerance": tolerance})}
        asked["accept"] = {**(asked["accept"] or {}), **(accept or {})}
        _check(subject, home / file, request, **asked)

    return check


def _read_marks(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the markers of a test say, the nearest last."""
    marks = [*request.node.iter_markers(_MARK)]
    for mark in marks:
        unknown = [*map(str, mark.args), *(name for name in mark.kwargs if name not in _TAKES)]
        if unknown:
            raise pytest.UsageError(
                f"the marker {_MARK} does not take {unknown[0]}; accepted: {', '.join(_TAKES)}, named"
            )
    return {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}


def _check(
    subject: Any, place: Path, request: pytest.FixtureRequest, *, tolerance: float | None, accept: Mapping[str, str]
) -> None:
    """Check a subject, or write it; in one run what one test has written is as it was frozen for all others."""
    __tracebackhide__ = True
    from pe_spectra.checking import check, name_subject, renew

    held, own = request.config.stash[_HELD], (place.resolve(), name_subject(subject))
    if request.config.getoption(UPDATE) and own not in held:
        place.parent.mkdir(parents=True, exist_ok=True)
        renew(subject, place, since=request.config.stash[_BEGAN], tolerance=tolerance, accept=accept)
        held[own] = request.node.nodeid
        return
    if not place.exists():
        pytest.fail(f"nothing is frozen in {place}; pytest {UPDATE} writes it")
    answer = check(subject, place, tolerance=tolerance, accept=accept)
    if answer.failed:
        # unlike an AssertionError it is not caught with others
        pytest.fail("\n".join([*_describe_other(place, own[1], held.get(own)), *_describe(answer)]))


def _describe_other(place: Path, name: str, other: str | None) -> list[str]:
    """Say which test of the same run froze something else under the same name, so that no update can serve both."""
    return [] if other is None else [f"{place.name} has {name} as {other} has it; give each a file of its own"]


def _describe(answer: Answer) -> list[str]:
    """The verdict, and a line for each change; the first pair that differs is in that of the frequencies."""
    columns = answer.columns
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    lines = [
        f"{row['what']}: {row['frozen']!r} was frozen, {row['now']!r} is there now; {row['effect']}" for row in rows
    ]
    left = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    shown = (*lines[:_MOST], *left, f"A is what was frozen, B what is there now; pytest {UPDATE} freezes it anew")
    return [answer.verdict.text, *(f"  {line}" for line in shown)]
