"""What was captured of a model as an answer."""

from __future__ import annotations

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.capturing.captured import Capture, CapturedRotation, CapturedTable
from pe_spectra.findings import Finding
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join

VERDICTS = Verdicts({"captured": "ok"})


@dataclass(frozen=True, kw_only=True)
class CaptureBody(Body):
    """What a running model turns and adds."""

    kind = "capture"
    draws = False
    subject: str = quantity("Class of the model, or name of the function.")
    rows: tuple[CapturedRotation, ...] = quantity("What queries and keys are turned by, by kind of layers.")
    tables: tuple[CapturedTable, ...] = quantity("What is added to tokens or to scores.")
    findings: tuple[Finding, ...] = quantity("What is wrong, the gravest first.")


def answer_capture(capture: Capture) -> Answer:
    """Turn what was captured into an answer; the gravest finding comes first.

    >>> import numpy as np
    >>> from pe_spectra import capture
    >>> def wave(positions):
    ...     return np.stack([np.sin(positions), np.cos(positions)], axis=1)
    >>> answer_capture(capture(wave, positions=64)).verdict.text
    'wave: 1 table, without a finding.'
    """
    return Answer(
        body=CaptureBody(
            subject=capture.subject, rows=capture.rotations, tables=capture.tables, findings=capture.findings
        ),
        verdict=_judge(capture),
        results=capture.rotations or capture.tables,
    )


def _judge(capture: Capture) -> Verdict:
    parts = (count(len(capture.rotations), "rotation"), count(len(capture.tables), "table"))
    taken = join([part for part, some in zip(parts, (capture.rotations, capture.tables), strict=True) if some])
    if not capture.findings:
        return VERDICTS.say("captured", f"{capture.subject}: {taken}, without a finding.")
    first, more = capture.findings[0], len(capture.findings) - 1
    others = f"; {count(more, 'other finding')}" if more else ""
    text = f"{capture.subject}: {taken}; {first.message.removesuffix('.')}{others}."
    return Verdict(level=first.level, code=first.code, text=text)
