"""What is measured of an encoding in a window of a series, each number by another road."""

import numpy as np
import pytest

from pe_spectra.encodings.calendar import Calendar
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.series.kernel_returns import read_periods
from pe_spectra.series.proposing import SharedPeriod, find_demand, propose_candidates
from pe_spectra.series.series_report import describe_series
from pe_spectra.series.suitability import measure_candidate
from pe_spectra.series.window_spectra import weigh_periods, weigh_window
from pe_spectra.sources import read_encoding
from tests.series.test_periods import describe_kind, make

START = np.datetime64("2024-01-01")


def look(kind, d=32, window=None):
    found = describe_kind(kind, START)
    return found, find_demand(found, d=d, window=window)


def measure(spec, kind="gap, two", **more):
    report, demand = look(kind, **more)
    encoding = read_encoding(spec) if isinstance(spec, str) else spec
    return measure_candidate("it", encoding, report, demand), report, demand


def weigh_columns(table):
    """The mean periodogram of columns without their means, at k/W cycles per step, as the definition has it."""
    window = len(table)
    centred = table - table.mean(axis=0)
    weights = []
    for k in range(1, window // 2 + 1):
        wave = np.exp(-2j * np.pi * k * np.arange(window) / window)
        weights.append(np.sum(np.abs(wave @ centred) ** 2) * (0.5 if 2 * k == window else 1.0))
    return np.array(weights) / np.sum(weights)


@pytest.mark.parametrize("window", [40, 97])
@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=32", "periods:steps=48+336", "calendar:fields=hour+weekday", "dft:d=32"]
)
def test_the_spectrum_in_a_window_is_the_mean_periodogram_of_the_columns(spec, window):
    found, _, _ = measure(spec, window=window)
    np.testing.assert_allclose(found.weights, weigh_columns(read_encoding(spec).table(window)), atol=1e-9)


def test_the_overlap_is_that_of_both_spectra():
    found, _, demand = measure("periods:steps=48+336", window=400)
    s = np.arange(400)
    waves = [(steps, power) for one in demand.wanted for steps, power in one.waves]
    columns = [[np.sqrt(a) * np.cos(2 * np.pi * s / p), np.sqrt(a) * np.sin(2 * np.pi * s / p)] for p, a in waves]
    wanted = weigh_columns(np.concatenate(columns).T)
    own = weigh_columns(read_encoding("periods:steps=48+336").table(400))
    assert found.overlap == pytest.approx(np.minimum(wanted, own).sum(), abs=1e-9)
    assert measure("dft:d=400", window=400)[0].overlap < 0.1


def test_a_constant_has_no_spectrum():
    np.testing.assert_array_equal(weigh_window(np.ones(20)), np.zeros(10))
    waves = ((4.0, 0.5),)
    one = SharedPeriod(name="4 steps", steps=4.0, share=0.5, inside=True, harmonics=1, waves=waves)
    assert np.argmax(weigh_periods([one], 20)) == 4


@pytest.mark.parametrize(
    "spec",
    ["sinusoidal:d=32", "tape:d=32,length=400", "periods:steps=48+336+20", "calendar:fields=minute+hour+weekday"],
)
def test_distances_and_norm_are_those_of_the_vectors(spec):
    found, report, _ = measure(spec, window=200)
    encoding = read_encoding(spec)
    table = encoding.table(200)
    distances = np.linalg.norm(table[:, None] - table[None], axis=2)
    typical = np.sqrt(np.mean(distances[np.triu_indices(200, 1)] ** 2))
    smallest = distances[np.triu_indices(200, 1)].min()
    if found.distinct:
        assert found.relative_separation == pytest.approx(smallest / typical, rel=1e-6)
    else:
        assert found.relative_separation == 0
        assert smallest < 1e-9
    assert found.ends == pytest.approx(distances[0, -1] / typical)
    assert found.neighbours == pytest.approx(np.sqrt(np.mean(np.diagonal(distances, 1) ** 2)) / typical)
    before, after = 999, 1500  # the gap of this series
    one, other = encoding.table([before, after])
    assert found.gap == pytest.approx(np.linalg.norm(one - other) / typical)
    assert report.sampling.missing == after - before - 1
    assert found.norm_rms * found.factor == pytest.approx(4)
    assert found.norm_rms == pytest.approx(np.sqrt(np.mean(np.sum(table**2, axis=1))))


def test_the_kernel_at_periods_is_that_of_the_encoding():
    found, _, _ = measure("periods:steps=48+336")

    def k(lag):
        return (np.cos(2 * np.pi * lag / 48) + np.cos(2 * np.pi * lag / 336)) / 2

    for at in found.at_each:
        assert at.ratio == pytest.approx(k(at.lag))
        kept = [min(k(at.lag * one / parts) for one in range(1, parts)) for parts in range(2, 13)]
        assert at.rise == pytest.approx(k(at.lag) - max(kept), abs=2e-3)  # k is linear between whole lags there
        assert at.is_local_maximum == (k(at.lag) > max(k(at.lag - 1), k(at.lag + 1)))
    assert found.seen == 1
    falling, _, _ = measure("sinusoidal:d=256")
    assert falling.seen == 0
    assert all(at.rise < 0 for at in falling.at_each)
    # a ladder of few waves has one of nearly a week, 2 pi 10000**(7/16) = 353 steps, but comes back sooner with others
    coarse, _, _ = measure("sinusoidal:d=32")
    assert coarse.seen == 0
    _, _, demand = measure("dft:d=32")
    day, _, _ = measure("periods:steps=48")
    shares = {one.name: one.share for one in demand.wanted}
    assert day.seen == pytest.approx(
        1.0 if day.at_each[0].is_seen and day.at_each[1].is_seen else shares["day"] / sum(shares.values())
    )


def test_periods_longer_than_the_window_are_shown_by_dates_alone():
    found, _, demand = measure("sinusoidal:d=32", window=100)
    assert [(one.name, one.inside) for one in sorted(demand.wanted, key=lambda one: one.steps)] == [
        ("day", True),
        ("week", False),
    ]
    assert [(at.name, at.is_seen, at.rise is None) for at in found.at_each] == [
        ("day", False, False),
        ("week", False, True),
    ]
    same, _, _ = measure("periods:steps=48+336", window=100)
    assert [(at.name, at.is_seen) for at in same.at_each] == [("day", True), ("week", False)]
    alone, _, _ = measure("sinusoidal:d=32", window=20)
    assert (alone.seen, alone.overlap) == (0.0, None)


@pytest.mark.parametrize(
    "spec", ["calendar:fields=time+weekday", "hybrid:of='sinusoidal:d=32'+'{}',weights=1+4,mode=concat"]
)
def test_a_calendar_shows_a_period_that_is_longer_than_the_window(spec):
    calendar = f"calendar:fields=time+weekday,start={START},step=30min"
    found, _, _ = measure(spec.format(calendar) if "{}" in spec else calendar, window=100)
    assert {at.name: at.is_seen for at in found.at_each} == {"day": True, "week": True}
    assert found.seen == 1.0
    # the kernel between two windows, pair by pair
    # of the calendar alone, for the positions of a ladder are the same in both
    encoding = read_encoding(calendar)

    def k(lag):
        tables = (encoding.table(np.arange(100) + one) for one in (0, lag))
        return sum(float(a @ b) for a, b in zip(*tables, strict=True))

    week = next(at for at in found.at_each if at.name == "week")
    assert week.ratio == pytest.approx(k(336) / k(0), rel=1e-12)
    # each of 2 to 12 parts, of which 7 are days, after which the time of day is the same
    kept = {parts: min(k(round(336 * one / parts)) for one in range(1, parts)) for parts in range(2, 13)}
    assert max(kept, key=kept.get) == 7
    assert week.rise == pytest.approx((k(336) - kept[7]) / k(0), rel=1e-9)


def test_what_comes_back_sooner_does_not_show_the_longer_period():
    """A day comes back at a week, too: after seven of them, and not for the first time."""
    day, _, _ = measure("periods:steps=48", window=400)
    assert {at.name: at.is_seen for at in day.at_each} == {"day": True, "week": False}
    third, _, _ = measure("periods:steps=16", window=400)
    assert third.seen == 0
    both, _, _ = measure("periods:steps=48+336", window=400)
    assert both.seen == 1
    clock, _, _ = measure(f"calendar:fields=time,start={START},step=30min", window=100)
    assert {at.name: at.is_seen for at in clock.at_each} == {"day": True, "week": False}


@pytest.mark.parametrize("other", [49.5, 50.0, 60.0, 71.9])
def test_periods_that_are_nearly_alike_are_each_looked_at(other):
    near = [SharedPeriod(name=str(one), steps=one, share=0.5, harmonics=1, inside=True) for one in (48.0, other)]
    assert all(at.rise > 0.1 for at in read_periods(read_encoding(f"periods:steps=48+{other}"), near, 600))


def test_without_dates_periods_longer_than_the_window_are_not_asked_for():
    times, values, _ = make("gap, two")
    report = describe_series({"x": values}, times / 1800)
    demand = find_demand(report, d=64, window=100)
    found = measure_candidate("it", read_encoding("sinusoidal:d=32"), report, demand)
    assert [at.name for at in found.at_each] == [one.name for one in demand.wanted if one.inside]


@pytest.mark.parametrize(("spec", "first"), [("dft:d=32", 32), ("periods:steps=48", 48), ("periods:steps=6+4", 12)])
def test_what_repeats_in_a_window_says_how_long_it_does_not(spec, first):
    found, _, _ = measure(spec, window=100)
    assert (found.distinct, found.repeats, found.relative_separation) == (False, first, 0.0)
    again, _, _ = measure(spec, window=first)
    assert (again.distinct, again.repeats) == (True, None)


def test_what_the_study_trained_is_known_by_its_own_parameters():
    assert measure("dft:d=500", window=300)[0].trained_worse > 0
    assert measure("tape:d=64,length=300", window=300)[0].trained_of == 12
    assert measure("tape:rho=100", window=300)[0].trained_of is None
    assert measure("sinusoidal:d=32", window=300)[0].trained_of is None


def test_what_is_not_added_has_no_norm():
    found, _, _ = measure("rope:d=32")
    assert (found.norm_rms, found.factor) == (None, None)
    assert found.relative_separation > 0
    bias, _, _ = measure("alibi")
    assert (bias.norm_rms, bias.relative_separation, bias.ends, bias.gap, bias.seen) == (None, None, None, None, 0)


@pytest.mark.parametrize(
    ("spec", "kind", "why"),
    [
        ("shaw", "30 min", "its numbers are learned"),
        ("sincos2d:d=16,height=4,width=4", "30 min", "fill a grid"),
        ("one-hot:d=64", "30 min", "it has 64 positions, fewer than the window"),
        ("dft:d=32", "uneven", "takes whole positions only"),
        ("fire:seed=1", "30 min", "its numbers are learned"),
    ],
)
def test_what_cannot_answer_is_refused(spec, kind, why):
    with pytest.raises(InputError, match=why):
        measure(spec, kind)


def test_times_on_no_lattice_are_real_positions_of_a_usual_window():
    found, report, demand = measure("sinusoidal:d=32", "uneven")
    places = report.places
    lengths = sorted(places[i + demand.window - 1] - places[i] for i in range(len(places) - demand.window + 1))
    middle = lengths[len(lengths) // 2]
    first = next(i for i in range(len(places)) if places[i + demand.window - 1] - places[i] == middle)
    times = places[first : first + demand.window] - places[first]
    table = read_encoding("sinusoidal:d=32").table_at(times)
    distances = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(len(times), 1)]
    assert found.relative_separation == pytest.approx(distances.min() / np.sqrt(np.mean(distances**2)), rel=1e-5)
    assert found.distinct


def test_a_gap_in_times_on_no_lattice():
    rng = np.random.default_rng(0)
    times = np.sort(np.concatenate([rng.uniform(0, 200, 200), rng.uniform(400, 600, 200)])) * 60
    report = describe_series({"x": rng.standard_normal(400)}, times)
    found = measure_candidate("it", read_encoding("mtan:d=8"), report, find_demand(report, d=8))
    assert report.sampling.gaps == 1
    assert found.gap is not None


def test_an_encoding_that_ends_is_asked_for_the_length_of_the_gap():
    rows = "pixel-bands:d=32,length=600"
    found, _, _ = measure(rows, window=96)
    table = read_encoding(rows).table(600)
    typical = np.sqrt(2 * table[:96].var(axis=0).sum() * 96 / 95)
    assert found.gap == pytest.approx(np.linalg.norm(table[501] - table[0]) / typical)
    assert measure("pixel-bands:d=32,length=200", window=96)[0].gap is None


def test_calendars_of_a_series_are_looked_at_from_its_first_time():
    report, demand = look("30 min", d=64)
    one = next(one for one in propose_candidates(report, demand) if one.name == "calendar")
    assert isinstance(one.encoding, Calendar)
    assert measure_candidate("calendar", one.encoding, report, demand).repeats == 336


def test_where_times_are_on_no_lattice_a_period_that_comes_back_is_not_distinct():
    found, report, demand = measure("sinusoidal:d=32", "uneven")
    steps = [one.steps for one in demand.wanted if one.inside]
    assert found.distinct is True
    alone = read_encoding(f"periods:steps={steps[0]!r}")
    ladder = Hybrid(of=(Sinusoidal(d=30), alone), mode="concat")
    back = measure_candidate("alone", alone, report, demand)
    assert (back.distinct, back.repeats) == (False, max(1, int(steps[0])))
    assert back.relative_separation > 0  # no two of these times are a period apart
    assert measure_candidate("ladder", ladder, report, demand).distinct is True
    longer = read_encoding(f"periods:steps={3.7 * max(steps)!r}")
    assert measure_candidate("longer", longer, report, demand).distinct is True
