"""The fixture `pe_spectra_check`: what a model, an array or a file gives must be what was frozen beside the test.

Nothing of the package is loaded until a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pe_spectra.answers.answer import Answer

UPDATE = "--pe-spectra-update"
_TOLERANCE, _FOLDER, _MARK = "pe_spectra_tolerance", "pe_spectra_folder", "pe_spectra"
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
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(tolerance=.., accept={{code: reason}}): how pe_spectra_check compares in this test",
    )


@pytest.fixture
def pe_spectra_check(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Check a subject against a frozen file: `pe_spectra_check(model, "rope.json")`.

    The subject is what `pe_spectra.check` takes: a module or a model that runs, a function of positions, an array, an
    encoding, a file, a SPEC. The file lies beside the test, or in the folder of the ini option pe_spectra_folder. Where
    it differs the test fails, and says what changed; with --pe-spectra-update the file is written anew.
    """
    named = {
        name: value for mark in reversed([*request.node.iter_markers(_MARK)]) for name, value in mark.kwargs.items()
    }
    stated = request.config.getini(_TOLERANCE)
    usual = {"tolerance": float(stated) if stated else None, "accept": None}
    settings = {**usual, **named}
    folder = request.config.getini(_FOLDER)
    home = request.config.rootpath / folder if folder else request.path.parent

    def check(
        subject: Any, file: str | Path, *, tolerance: float | None = None, accept: Mapping[str, str] | None = None
    ) -> None:
        __tracebackhide__ = True
        asked = {**settings, **({} if tolerance is None else {"tolerance": tolerance})}
        asked["accept"] = {**(asked["accept"] or {}), **(accept or {})}
        _check(subject, home / file, request.config.getoption(UPDATE), **asked)

    return check


def _check(
    subject: Any, place: Path, is_update: bool, *, tolerance: float | None, accept: Mapping[str, str] | None
) -> None:
    __tracebackhide__ = True
    import pe_spectra

    if not place.exists():
        if not is_update:
            raise AssertionError(f"nothing is frozen in {place}; pytest {UPDATE} writes it")
        place.parent.mkdir(parents=True, exist_ok=True)
        pe_spectra.freeze(subject, place, accept=accept)
        return
    answer = pe_spectra.check(subject, place, tolerance=tolerance, accept=accept)
    if answer.failed and is_update:
        pe_spectra.freeze(subject, place, accept=accept)
    elif answer.failed:
        raise AssertionError("\n".join(_describe(answer)))


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
