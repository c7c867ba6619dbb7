"""Planted windows: the same tokens under both labels, and no window in two parts of the data."""

from collections import Counter

import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.experiment.streams import draw_encoding_seed, start_stream
from pe_spectra.experiment.tasks import CHANNELS, FAINT_HEIGHT, draw_windows
from pe_spectra.vocabulary import TASKS
from tests.refusing import catch

LENGTH, SCALE = 32, 6
#: Without positions nothing is to be known of them.
SYMMETRIC = ("where", "lag", "period", "order", "trend-change")


def draw(task, count=512, noise=0.0, length=LENGTH, scale=SCALE, seed=0):
    return draw_windows(task, length=length, seed=seed, scale=scale, noise=noise, counts=(count, count, count))


def list_places(window):
    return np.flatnonzero(window[:, 0]).tolist()


def sort_tokens(windows):
    """The windows with their tokens sorted: what a judge without positions has."""
    return [tuple(np.sort(window[:, 0]).round(6).tolist()) for window in windows]


# ----------------------------------------------------------------------------------- what is planted


@pytest.mark.few(4)
@pytest.mark.parametrize("task", SYMMETRIC)
@pytest.mark.parametrize(("length", "scale"), [(32, 6), (33, 6), (64, 6), (32, 3), (40, 11)])
def test_the_tokens_alone_say_nothing(task, length, scale):
    windows = draw(task, length=length, scale=scale, count=2048).training
    # of at most two kinds of windows each is there as often under both labels
    counts = [Counter(sort_tokens(windows.values[windows.labels == label])) for label in (0, 1)]
    assert set(counts[0]) == set(counts[1])
    for kind, count in counts[0].items():
        assert abs(count - counts[1][kind]) < 6 * count**0.5


@pytest.mark.parametrize("task", TASKS)
def test_labels_are_in_equal_numbers(task):
    for part in vars(draw(task)).values():
        assert part.labels.sum() == 256
        assert part.values.shape == (512, LENGTH, CHANNELS if task == "anomaly" else 1)


def test_where_is_within_the_scale_of_the_middle():
    windows = draw("where").training
    for window, label in zip(windows.values, windows.labels, strict=True):
        (place,) = list_places(window)
        assert (place > 15.5) == label
        assert abs(place - 15.5) < SCALE


def test_lags_have_the_same_middles():
    windows = draw("lag", count=4096).training
    middles = [set(), set()]
    for window, label in zip(windows.values, windows.labels, strict=True):
        first, second = list_places(window)
        assert second - first == (7 if label else 5)
        middles[label].add(first + second)
    assert middles[0] == middles[1] == set(range(7, 2 * 31 - 6, 2))


def test_periods_have_as_many_bumps_and_the_same_middles():
    windows = draw("period", count=2048).training
    middles = [set(), set()]
    for window, label in zip(windows.values, windows.labels, strict=True):
        places = list_places(window)
        assert set(np.diff(places)) == {SCALE + label}
        assert len(places) == 5
        middles[label].add(places[2])
    assert middles[0] == middles[1]


def test_order_is_up_then_down_or_down_then_up():
    windows = draw("order").training
    gaps = set()
    for window, label in zip(windows.values, windows.labels, strict=True):
        first, second = list_places(window)
        assert (window[first, 0] > window[second, 0]) == label
        gaps.add(second - first)
    assert gaps == set(range(1, SCALE + 1))


def test_a_trend_becomes_steeper_or_gentler():
    windows = draw("trend-change").training
    for window, label in zip(windows.values, windows.labels, strict=True):
        steps = np.abs(np.diff(window[:, 0]))
        (moving,) = np.nonzero(steps > 1e-6)
        assert len(moving) == 2 * SCALE
        assert (steps[moving[0]] > steps[moving[-1]]) == label


def test_what_becomes_steeper_becomes_gentler_backwards():
    windows = draw("trend-change", count=4096).training
    kinds = [{tuple(window[:, 0].round(6)) for window in windows.values[windows.labels == label]} for label in (0, 1)]
    assert {kind[::-1] for kind in kinds[1]} == kinds[0]


@pytest.mark.parametrize(("task", "height"), [("bag", 1), ("faint", 0.4)])
def test_there_is_one_bump_or_two(task, height):
    windows = draw(task).training
    for window, label in zip(windows.values, windows.labels, strict=True):
        assert len(list_places(window)) == 1 + label
        assert window.max() == np.float32(height)


def test_the_best_judge_of_faint_bumps_is_sometimes_wrong():
    """The ratio of likelihoods: of one bump anywhere, and of two in any two places."""
    noise = 0.1
    windows = draw("faint", noise=noise, count=2048).test
    odds = np.exp((FAINT_HEIGHT * windows.values[:, :, 0].astype(float) - FAINT_HEIGHT**2 / 2) / noise**2)
    one = odds.mean(axis=1)
    pairs = [(odds[:, i] * odds[:, j]) for i in range(LENGTH) for j in range(i)]
    two = np.mean(pairs, axis=0)
    right = np.mean((two > one) == windows.labels)
    assert 0.84 < right < 0.9


def test_two_of_three_anomalies_keep_the_tokens():
    """A normal window holds whole turns of one wave, so each token is there again after a period."""
    windows = draw("anomaly", count=900, length=24).training
    spikes = sum(np.abs(window).max() > 1.02 for window in windows.values[windows.labels == 1])
    kept = sum(
        sort_rows(window[:12]) == sort_rows(window[12:]) for window in windows.values[windows.labels == 0].round(4)
    )
    assert kept == 450
    # most spikes leave the range of the wave; contextual and collective anomalies never do
    assert 70 < spikes < 150
    assert np.abs(windows.values[windows.labels == 0]).max() <= 1


def sort_rows(tokens):
    return sorted(map(tuple, (tokens + 0.0).tolist()))


def test_anomalies_that_are_no_spikes_change_the_order_alone():
    windows = draw("anomaly", count=900, length=24)
    ordered = 0
    for window in windows.training.values[windows.training.labels == 1]:
        angle = np.pi * np.arange(24) / SCALE
        waves = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        # over whole turns the values of a channel sum to 0, and their squares to half the window
        exact = window.astype(float)
        whole = (np.abs(np.sum(exact**2, axis=0) - 12) < 1e-4) & (np.abs(np.sum(exact, axis=0)) < 1e-4)
        normal = np.abs(waves @ np.linalg.lstsq(waves, window, rcond=None)[0] - window).max() < 1e-5
        assert not normal
        ordered += bool(whole.all())
    assert 250 < ordered < 350


# ----------------------------------------------------------------------------------- streams


def find_shared(data):
    """Whether any window is in two of the parts."""
    seen = [{window.tobytes() for window in part.values} for part in vars(data).values()]
    return bool(seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])


@pytest.mark.parametrize("task", TASKS)
def test_no_window_is_in_two_parts(task):
    assert not find_shared(draw(task, noise=0.1))


def test_one_stream_for_all_parts_would_be_found(monkeypatch):
    def leak(seed, purpose, task="", length=0, split=0):
        return start_stream(seed, purpose, task, length)

    monkeypatch.setattr("pe_spectra.experiment.tasks.start_stream", leak)
    assert find_shared(draw("lag", noise=0.1))


def test_streams_differ_by_every_argument():
    given = [
        (0, "windows", "lag", 32, 0),
        (1, "windows", "lag", 32, 0),
        (0, "weights", "lag", 32, 0),
        (0, "windows", "where", 32, 0),
        (0, "windows", "lag", 64, 0),
        (0, "windows", "lag", 32, 1),
        (0, "windows", "lag", 0, 32),
        (0, "batches"),
        (0, "weights"),
        (0, "encoding"),
    ]
    drawn = [start_stream(*one).integers(2**62, size=4).tolist() for one in given]
    assert len({number for numbers in drawn for number in numbers}) == 4 * len(given)
    assert drawn == [start_stream(*one).integers(2**62, size=4).tolist() for one in given]


def test_windows_of_a_seed_are_the_same_every_time():
    np.testing.assert_array_equal(draw("lag", noise=0.1).test.values, draw("lag", noise=0.1).test.values)
    assert (draw("lag", noise=0.1).test.values != draw("lag", noise=0.1, seed=1).test.values).all()


def test_encodings_have_a_seed_for_each_trial():
    assert len({draw_encoding_seed(seed) for seed in range(50)}) == 50


@pytest.mark.parametrize(
    ("task", "length", "scale", "words"),
    [
        ("lags", 32, 6, "task is not known (lags)"),
        ("where", 16, 9, "where does not fit into the window (length 16, scale 9); at least 18 positions"),
        ("period", 16, 7, "at least 17 positions for scale 7"),
        ("lag", 32, 1, "a scale of at least 2"),
    ],
)
def test_what_does_not_fit_is_refused(task, length, scale, words):
    assert words in catch(draw, task, length=length, scale=scale, kind=InputError)
