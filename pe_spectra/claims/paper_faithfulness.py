"""What we compute for the paper's Section 3 about distances of codes: Definition 1 for the original encoding."""

from __future__ import annotations

from functools import cache

import numpy as np

from pe_spectra.claims.judging import ROUNDING, D, Judgement, conclude
from pe_spectra.claims.paper_original import LENGTH
from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.encodings.sinusoidal import PixelBands
from pe_spectra.faithfulness import Faithfulness, measure_faithfulness


@cache
def _original_faithfulness() -> Faithfulness:
    return measure_faithfulness(Sinusoidal(d=D), length=LENGTH)


def _short_range_ignored() -> Judgement:
    # Codes of unrelated phases are sqrt(d) apart in the root mean square: 2 for each of d/2 pairs.
    by_lag = _original_faithfulness().separation_by_lag
    one, ten = (float("nan"), float("nan")) if by_lag is None else (by_lag[0], by_lag[9])
    text = f"distance {one:.4f} at lag 1, {ten:.4f} at lag 10; unrelated codes are sqrt {D} apart"
    return conclude(text, holds=bool(ten < 0.1 * np.sqrt(D)), partly=bool(one < 0.5 * np.sqrt(D)))


def _original_lacks_faithfulness() -> Judgement:
    found = _original_faithfulness()
    text = (
        f"injective: {'yes' if found.injective else 'no'}, "
        f"smallest separation {found.min_separation:.5f} (S = {LENGTH}); "
        f"relative error of Algorithm 1 {found.relative_error:.5f}"
    )
    reconstructs = found.relative_error is not None and found.relative_error < ROUNDING
    return conclude(text, holds=found.injective is False, partly=not reconstructs)


def _faithfulness_leads_to_dft() -> Judgement:
    # pixel-bands of two columns and d + 1 positions: one pair, whose frequency is 2 pi/d
    pair, full = (measure_faithfulness(one, length=D) for one in (PixelBands(d=2, length=D + 1), Dft(d=D)))
    text = (
        f"one pair at 2 pi/{D}: smallest separation {pair.min_separation:.5f} on {D} positions, "
        f"rank {pair.rank}; the DFT encoding has rank {full.rank}"
    )
    return conclude(text, holds=pair.injective is False, partly=pair.rank != full.rank)
