"""Low-bin counts as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.answers.captions import place_below
from pe_spectra.encodings import Sinusoidal
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.low_bin import LowBinCount
from pe_spectra.wording import percent

VERDICTS = Verdicts({"crowded-low-bin": "note", "sparse-low-bin": "ok"})
#: A larger share of the frequencies in the lowest bin is worth a note.
_CROWDED = 0.25
#: So many counts have a clause of their own in the verdict.
_MOST_NAMED = 5
_ALMOST_HALF = (
    'the paper\'s "almost half of the entries" (Sec. 3.1) reads l* the wrong way round: the frequencies fall with l, '
    "so those with l > l* are inside the lowest bin; 103/256 and 245/512 are the shares outside"
)


@dataclass(frozen=True, kw_only=True)
class LowBinBody(Body):
    """How many frequencies lie below the lowest DFT frequency (Eq. 16)."""

    kind = "low-bin-count"
    length: int | None = quantity(
        "T, where the edge is 2 pi/T; null where it is the paper's 2 pi/d.", minimum=1, asked=True
    )
    rows: tuple[LowBinCount, ...] = quantity("One row for each encoding.", least=1)


def answer_counts(counts: Sequence[LowBinCount]) -> Answer:
    """Turn one or several low-bin counts into an answer.

    >>> from pe_spectra import Sinusoidal, count_low_bin
    >>> answer_counts([count_low_bin(Sinusoidal(d=256))]).verdict.text
    '76 of 128 frequencies (59.4 %) lie below 2 pi/256 for sinusoidal d=256 rho=10000.'
    """
    return Answer(
        body=LowBinBody(length=counts[0].length, rows=tuple(counts)),
        verdict=_judge(counts),
        results=counts,
        facts=(("inside", "0 < w < bin_edge, counted exactly; crossing is l* of Eq. 16"),),
        notes=_list_notes(counts),
    )


def _judge(counts: Sequence[LowBinCount]) -> Verdict:
    code = "crowded-low-bin" if any(count.share_inside > _CROWDED for count in counts) else "sparse-low-bin"
    parts = [_say(count) for count in counts]
    shown = parts if len(parts) <= _MOST_NAMED else [*parts[: _MOST_NAMED - 1], f"and {len(parts) - 4} more"]
    return VERDICTS.say(code, f"{'; '.join(shown)}.")


def _say(count: LowBinCount) -> str:
    share = f"{count.inside} of {count.total} frequencies ({percent(count.share_inside)})"
    return f"{share} lie {place_below(count.zero, f'2 pi/{count.points}')} for {count.encoding.label}"


def _list_notes(counts: Sequence[LowBinCount]) -> tuple[str, ...]:
    paper = [Sinusoidal(d=256), Sinusoidal(d=512)]
    is_paper = any(count.encoding in paper and count.length is None for count in counts)
    return (
        *((_ALMOST_HALF,) if is_paper else ()),
        *(
            f"{count.encoding.label}: all frequencies are 1 rad, so the ladder never crosses the edge"
            for count in counts
            if isinstance(count.encoding, Sinusoidal) and count.encoding.rho == 1
        ),
    )
