"""Kinds of findings: declared once, with the levels that their findings can have."""

from dataclasses import replace
from types import ModuleType

import pytest

from pe_spectra.answers.audits import AuditBody
from pe_spectra.findings import Finding, Kind, collect_findings, collect_kinds, list_failures
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.vocabulary import FINDING_LEVELS

SEAM = Kind(code="seam", levels=("warning", "note"), phrase="a break", reasoning="why", formula="how")


def test_a_finding_has_the_usual_level_or_one_that_its_kind_allows():
    assert SEAM.find("Row 3.").level == "warning"
    assert SEAM.find("Row 3.", level="note", row=3).to_dict() == {
        "level": "note",
        "code": "seam",
        "message": "Row 3.",
        "data": {"row": 3},
    }
    with pytest.raises(ValueError, match="never of level error"):
        SEAM.find("Row 3.", level="error")


def test_data_of_a_finding_cannot_be_changed():
    with pytest.raises(TypeError):
        SEAM.find("Row 3.", row=3).data["row"] = 4


def test_two_kinds_of_one_code_are_refused():
    one, other = ModuleType("one"), ModuleType("other")
    one.SEAM = other.SEAM = SEAM
    assert collect_kinds(one, other) == {"seam": SEAM}
    other.SEAM = replace(SEAM, phrase="another break")
    with pytest.raises(ValueError, match="called seam"):
        collect_kinds(one, other)


@pytest.mark.parametrize(("level", "count"), list(zip(FINDING_LEVELS, (3, 2, 1), strict=True)))
def test_failures_are_the_findings_of_a_level_and_above(level, count):
    found = [Finding(level=one, code=f"a-{one}", message="It is.") for one in FINDING_LEVELS]
    assert len(list_failures(found, level)) == count


def test_findings_are_found_at_any_depth_with_their_files():
    seam = SEAM.find("Row 3.")
    models = [("a.json", (seam,)), ("b.json", ()), ("c.json", (seam, seam))]
    body = AuditBody(
        trained=None,
        served=None,
        allocated=None,
        models=tuple(ModelAudit(file=file, findings=found) for file, found in models),
    )
    assert [file for file, one in collect_findings(body) if one is seam] == ["a.json", "c.json", "c.json"]
