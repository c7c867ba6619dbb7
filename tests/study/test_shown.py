"""Where the study shows an encoding to be learned better or worse: as its report counts it."""

import pytest

from pe_spectra.study import shown
from pe_spectra.study.counting import LEVEL, NEEDING, REFERENCE
from pe_spectra.study.shown import find_shown
from tests.pages.study_page import report
from tests.study.shown_counts import SHOWN, write_counts


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arm", "norm"),
    [("dft", "matched"), ("tape", "own"), ("rope", "own"), ("alibi", "own"), ("shaw", "own"), ("one-hot", "matched")],
)
def test_counts_are_those_of_the_report(arm, norm):
    rows = [one for one in report().arms if (one.arm, one.norm) == (arm, norm) and one.task in NEEDING]
    differing = [one.difference for one in rows if one.p_corrected is not None and one.p_corrected < LEVEL]
    found = find_shown(arm)
    assert (found.better, found.worse) == (sum(d > 0 for d in differing), sum(d < 0 for d in differing))
    assert found.comparisons == len(rows) > 0


def test_nothing_is_told_without_the_study(monkeypatch):
    assert find_shown("dft") is not None
    monkeypatch.setattr(shown, "find_study", lambda: None)
    assert find_shown("dft") is None


def test_what_was_not_trained_and_the_reference_have_none():
    assert find_shown("periods") is None
    assert find_shown(REFERENCE) is None


def test_the_file_is_what_the_lines_of_the_study_come_to():
    assert SHOWN.read_text("utf-8") == write_counts()
