"""How far lengths are tried: by what the rows that are compared cost, not by the positions that they are of."""

import pytest

from pe_spectra import find_encoding
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.growth import Grown, trace_growth
from pe_spectra.faithfulness.separation import measure_separation
from pe_spectra.limits import MAX_RANK_WORK


@pytest.mark.parametrize("d", [64, 512])
def test_lags_of_both_signs_are_rows_that_cost(d):
    encoding = find_encoding("transformer-xl")(d=d)
    first = measure_separation(CodeTable(encoding, 80))
    grown = trace_growth(encoding, Grown(length=80, separation=first.smallest, pair=first.pair))
    longest = grown[-1].length
    assert (2 * longest - 1) ** 2 * d <= MAX_RANK_WORK < (4 * longest - 1) ** 2 * d
    assert [one.length for one in grown] == [80 << power for power in range(len(grown))]


def test_lags_that_are_clipped_are_equal_however_many_they_are():
    encoding = find_encoding("shaw")(clip=200, d=64)
    first = measure_separation(CodeTable(encoding, 80))
    grown = trace_growth(encoding, Grown(length=80, separation=first.smallest, pair=first.pair))
    assert grown[-1].length > 100_000
    assert grown[-1].separation == 0.0
