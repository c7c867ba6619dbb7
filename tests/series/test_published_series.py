"""Series that were measured: which periods they have is known, and what they have besides is none.

The files are those that statsmodels 0.15.0 carries, each in the public domain: yearly numbers of sunspots from 1700 to
2008 (NOAA), weekly carbon dioxide at Mauna Loa from 1958 to 2001 (Scripps, by CDIAC; days are written as YYYYMMDD), and
the monthly turnover of European makers of electrical equipment from 1995 on (Eurostat; dates as Jan-1-1995, which are
no ISO dates).
"""

from pathlib import Path

import pytest

from pe_spectra.files.recorded_series import read_series
from pe_spectra.series.deciding import choose_encoding
from pe_spectra.series.series_report import describe_series

FOLDER = Path(__file__).parent / "published"


def describe(name):
    read = read_series(FOLDER / f"{name}.csv")
    return describe_series(read.columns, file=name, timed=read.timed, **read.known)


def test_sunspots_have_their_eleven_years():
    report = describe("sunspots")
    assert (report.timed, report.sampling.spacing, report.sampling.start) == ("YEAR", "months", "1700-01-01 00:00")
    (column,) = report.columns
    strongest = column.periods[0]
    assert strongest.steps == pytest.approx(11, rel=0.02)
    assert strongest.drifts
    # a second one of ten years is well known; all of it is the one cycle, which is not steady
    assert all(9.5 < one.steps < 11.5 for one in column.periods)
    choice = choose_encoding(report, d=64)
    assert [(one.name, one.inside) for one in choice.demand.wanted] == [("11 steps", True)]
    assert choice.ranked[0].candidate.name == "ladder and periods"


def test_carbon_dioxide_has_its_year_and_its_rise_is_no_period():
    report = describe("co2")
    sampling = report.sampling
    assert (sampling.spacing, sampling.step, sampling.start) == ("even", 7 * 86400.0, "1958-03-29 00:00")
    (column,) = report.columns
    assert (column.missing, column.trend_share > 0.95) == (59, True)
    assert [(one.named, one.harmonics) for one in column.periods] == [("year", (2,))]


def test_a_season_whose_fourth_harmonic_is_the_strongest_is_one_period():
    (column,) = describe("elec_equip").columns
    (season,) = column.periods
    assert season.steps == pytest.approx(12, rel=0.002)
    assert season.harmonics == (2, 3, 4, 5, 6)
