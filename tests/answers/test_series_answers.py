"""What is said of a series is what was found in it."""

import numpy as np
import pytest

from pe_spectra.answers.series_answers import answer_series, entitle_period, judge_series
from pe_spectra.series.series_report import describe_series
from tests.series.recorded import add_waves, make_red

STEPS = np.arange(2000.0)


def describe(columns, steps=STEPS, **more):
    return describe_series(columns, steps * 1800, **{"origin": np.datetime64("2024-01-01"), **more})


def draw(seed):
    """A few columns, each of some periods, or none, or of nothing that can be looked at."""
    rng = np.random.default_rng(seed)
    columns = {}
    for place in range(int(rng.integers(1, 6))):
        periods = rng.choice([336, 48, 20.5, 7.7, 100.3, 31.1], size=int(rng.integers(0, 6)), replace=False)
        values = add_waves(STEPS, *((period, 1.0) for period in periods))
        columns[f"c{place}"] = values + make_red(rng, STEPS, float(rng.choice([0, 5])))
    if rng.random() < 0.3:
        columns["flat"] = np.ones(2000)
    return columns


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_said_of_a_series_is_what_was_found(seed):
    report = describe(draw(seed))
    answer = answer_series(report)
    having = [one for one in report.columns if one.periods]
    if not having:
        assert answer.verdict.code == "no-periods"
        return
    assert answer.verdict.code == "periods"
    for column in having[:3]:
        assert f"of {column.column}: " in answer.verdict.text
        for period in column.periods[:4]:
            name = f"a {period.named}" if period.named else report.sampling.write(period.period)
            assert (
                f"{name} ({period.steps:.4g} steps, {100 * period.share:.1f} % of the variance)" in answer.verdict.text
            )
    left = len([one for one in report.columns if one.silent is None]) - min(len(having), 3)
    assert (f"{left} other column" in answer.verdict.text) == (left > 0)
    facts = dict(answer.facts)
    assert "columns" not in facts
    for column in report.columns:
        if column.silent is not None:
            assert f"not looked for: {column.silent}" in facts.values()
    assert len(answer.table["period"]) == report.period_count


def test_nothing_that_can_be_looked_at():
    verdict = judge_series(describe({"a": np.ones(2000), "b": np.full(2000, np.nan)}))
    assert verdict.code == "not-looked-for"
    assert verdict.text == "Nothing was looked for: a: all values are equal and b: too few samples."
    assert answer_series(describe({"a": np.ones(2000)})).table["period"] == []


def test_what_was_left_out_is_counted():
    steps = np.concatenate([STEPS[:50], STEPS[49:50], STEPS[60:], STEPS[55:56]])
    values = np.sin(steps)
    values[[5, 6]] = np.nan
    answer = answer_series(describe({"x": values}, steps, rows=2000, timeless=3), notes=("a note",))
    facts = dict(answer.facts)
    assert facts["gaps"].startswith("2 gaps, 9 steps missing: 2024-01-02 00:30 to 2024-01-02 03:30 (5) and ")
    assert facts["repeated"] == "1 row at times that others have, 0 with other values: 2024-01-02 00:30"
    assert facts["x: missing"] == "2 samples without a value, at most 2 in a row"
    assert answer.notes == (
        "a note",
        "left out: 3 rows without a time",
        "1 row is earlier than a row above; sorted by time",
        "of rows at one time the mean of the values was taken",
    )


def test_the_step_is_said_as_it_is():
    def say(steps, **more):
        return dict(answer_series(describe({"x": np.sin(steps)}, steps, **more)).facts)["step"]

    assert say(STEPS) == "30 min, even"
    jittered = STEPS + np.random.default_rng(0).normal(0, 0.05, 2000)
    assert say(jittered).startswith("30 min, off by 7.")
    assert "on no lattice" in say(np.sort(np.random.default_rng(0).uniform(0, 2000, 2000)))
    months = np.arange("2000-01", "2010-01", dtype="datetime64[M]").astype("datetime64[s]").astype(float)
    months -= months[0]
    said = say(months / 1800, origin=np.datetime64("2000-01-01"))
    assert said == "30.44 d on average: months of the calendar, at one day of each"


def test_periods_that_were_not_looked_for_or_are_not_steady_are_noted(monkeypatch):
    values = np.sin(2 * np.pi * STEPS / 48 * (1 + 0.01 * STEPS / 2000))
    notes = answer_series(describe({"x": values + 0.1 * make_red(np.random.default_rng(0), STEPS, 0)})).notes
    assert any("not steady" in note for note in notes)
    monkeypatch.setattr("pe_spectra.series.periodogram.MOST_FREQUENCIES", 200)
    notes = answer_series(describe({"x": np.sin(STEPS / 200)})).notes
    assert any("were not looked for: too many frequencies" in note for note in notes)


def test_changes_of_clocks_are_told():
    answer = answer_series(describe({"x": np.sin(STEPS)}, shifts=[(100, 3600.0)]))
    assert dict(answer.facts)["clocks changed"] == "1 time, after 2024-01-03 01:30"


@pytest.mark.parametrize(("length", "name"), [(3600.0, "an hour"), (86400.0, "a day")])
def test_a_named_period_has_its_article(length, name):
    times = np.arange(0.0, 40 * length, length / 12)
    values = np.sin(2 * np.pi * times / length) + 0.1 * np.random.default_rng(1).standard_normal(len(times))
    found = describe_series({"x": values}, times, origin=np.datetime64("2024-01-01"))
    assert entitle_period(found.columns[0].periods[0], found.sampling) == name


def test_a_slower_period_that_the_amplitude_goes_with_is_told():
    days = np.arange(1600.0)
    year = np.cos(2 * np.pi * days / 365.2425)
    values = (1 + 0.6 * year) * np.cos(2 * np.pi * days / 7) + 2 * year
    values += 0.2 * np.random.default_rng(0).standard_normal(1600)
    report = describe_series({"x": values}, days * 86400, origin=np.datetime64("2020-01-01"))
    assert "; amplitude changes with year; " in dict(answer_series(report).facts)["x: a week"]
