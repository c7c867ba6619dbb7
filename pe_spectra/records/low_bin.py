"""Low-bin counts as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pe_spectra.encodings import Sinusoidal
from pe_spectra.records.answer import Answer, Cell, Verdict, describe_encoding, percent
from pe_spectra.spectrum import LowBinCount

_ALMOST_HALF = (
    'the paper\'s "almost half of the entries" (Sec. 3.1) reads l* the wrong way round: the frequencies fall with l, '
    "so those with l > l* are inside the lowest bin; 103/256 and 245/512 are the shares outside"
)


def answer_counts(counts: Sequence[LowBinCount], *, next_command: str = "") -> Answer:
    """Turn one or several low-bin counts into an answer.

    >>> from pe_spectra import Sinusoidal, count_low_bin
    >>> answer_counts([count_low_bin(Sinusoidal(d=256))]).verdict.text
    '76 of 128 frequencies (59.4 %) lie below 2 pi/256 for sinusoidal d=256 rho=10000.'
    """
    rows: list[dict[str, Cell]] = [
        {
            "d": getattr(c.encoding, "d", None),
            "rho": getattr(c.encoding, "rho", None),
            "length": c.length,
            "bin_edge": c.bin_edge,
            "crossing": c.crossing,
            "inside": c.inside,
            "outside": c.outside,
            "total": c.total,
            "share_inside": c.share_inside,
        }
        for c in counts
    ]
    described = [{"encoding": describe_encoding(c.encoding), **row} for c, row in zip(counts, rows, strict=True)]
    names = ("d", "rho", "length", "bin_edge", "crossing", "inside", "outside", "total", "share_inside")
    return Answer(
        kind="low-bin-count",
        verdict=_judge(counts),
        body={"parameters": {"length": counts[0].length}, "rows": described},
        columns={"encoding": [c.encoding.name for c in counts], **{n: [row[n] for row in rows] for n in names}},
        facts=(("inside", "0 < w < bin_edge, counted exactly; crossing is l* of Eq. 16"),),
        notes=_list_notes(counts),
        next_command=next_command,
    )


def _judge(counts: Sequence[LowBinCount]) -> Verdict:
    parts = []
    for count in counts:
        points = count.encoding.default_grid if count.length is None else count.length
        share = f"{count.inside} of {count.total} frequencies ({percent(count.share_inside)})"
        parts.append(f"{share} lie below 2 pi/{points} for {count.encoding.label}")
    crowded = any(count.share_inside > 0.25 for count in counts)
    level, code = ("note", "crowded-low-bin") if crowded else ("ok", "sparse-low-bin")
    shown = "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")
    return Verdict(level=level, code=code, text=f"{shown}.")


def _list_notes(counts: Sequence[LowBinCount]) -> tuple[str, ...]:
    notes = []
    paper = [Sinusoidal(d=256), Sinusoidal(d=512)]
    if any(c.encoding in paper and c.length is None for c in counts):
        notes.append(_ALMOST_HALF)
    notes += [
        f"{count.encoding.label}: all frequencies are 1 rad, so the ladder never crosses the edge"
        for count in counts
        if count.crossing is None and "rho" in count.encoding.parameters
    ]
    return tuple(dict.fromkeys(notes))
