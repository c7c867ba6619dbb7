"""Windows of series and cases: their classes, and that nothing of a test is seen in training."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.errors import InputError
from pe_spectra.experiment.windows import PARTS, cut_windows
from pe_spectra.files.datasets.data_forms import read_dataset
from pe_spectra.files.datasets.recorded import Cases, CaseSet, RecordedSet, Recording
from tests.files.datasets.published import ETT, draw_ett, write_lines
from tests.refusing import catch


def make_series(*sizes, classes=2, channels=3, seed=0, unlabelled=()):
    """Series of random numbers whose classes change every few rows."""
    generator = np.random.default_rng(seed)
    recordings = []
    for number, size in enumerate(sizes):
        labels = np.repeat(generator.integers(0, classes, size=size), 5)[:size]
        if classes == 2:  # few rows of the second, so that there are windows without any
            labels = np.where(np.arange(size) % 41 < 4, 1, 0)
        recordings.append(
            Recording(
                name=f"r{number}",
                part="test",
                values=generator.normal(size=(size, channels)) * [1, 10, 100][:channels] + [0, 5, -7][:channels],
                labels=None if number in unlabelled else labels,
                origin="r.csv",
            )
        )
    return RecordedSet(
        form="table",
        origin="r.csv",
        channels=tuple("abc"[:channels]),
        classes=tuple("uvwxyz"[:classes]),
        recordings=tuple(recordings),
        notes=("a note",),
    )


def list_steps(part, length):
    """Every step that the windows of a part touch, as (series, row)."""
    return {
        (series, row)
        for series, start in zip(part.series.tolist(), part.starts.tolist(), strict=True)
        for row in range(start, start + length)
    }


@pytest.mark.parametrize(("length", "stride"), [(2, 1), (8, 1), (8, 3), (8, 8), (13, 5), (None, None)])
def test_no_two_parts_share_a_step(length, stride):
    found = cut_windows(make_series(1200, 1051), length=length, stride=stride)
    length, stride = found.length, found.stride
    steps = [list_steps(getattr(found, name), length) for name in PARTS]
    assert all(steps)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not steps[one] & steps[other]
    for series in (0, 1):
        rows = [[row for number, row in part if number == series] for part in steps]
        # and between the last row of one and the first of the next there is the gap, and time goes on
        assert min(rows[1]) - max(rows[0]) > found.gap
        assert min(rows[2]) - max(rows[1]) > found.gap
    assert found.gap == length - stride


def test_windows_are_all_that_fit():
    found = cut_windows(make_series(100), length=8, stride=4)
    assert found.training.starts.tolist() == list(range(0, 53, 4))
    assert found.validation.starts.tolist() == [64, 68, 72]
    assert found.test.starts.tolist() == [84, 88, 92]
    assert found.notes[0] == "a note"


def test_scales_are_those_of_training_alone():
    series = make_series(200, 150)
    found = cut_windows(series, length=6, stride=2)
    for number, one in enumerate(series.recordings):
        rows = one.values[: round(0.6 * len(one.values))]
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        for name in PARTS:
            part = getattr(found, name)
            for place in np.flatnonzero(part.series == number):
                raw = one.values[part.starts[place] : part.starts[place] + 6]
                assert_allclose(part.values[place], (raw - mean) / spread, rtol=1e-12, atol=1e-12)
    # what comes behind training changes nothing of it
    later = series.recordings[0].values.copy()
    later[120:] += 1000.0
    changed = RecordedSet(
        **{**vars(series), "recordings": (Recording(**{**vars(series.recordings[0]), "values": later}),)}
    )
    again = cut_windows(changed, length=6, stride=2)
    assert_array_equal(again.training.values, found.training.values[found.training.series == 0])


def test_a_constant_channel_is_not_blown_up():
    series = make_series(100)
    values = series.recordings[0].values.copy()
    values[:60, 1] = 0.1
    one = Recording(**{**vars(series.recordings[0]), "values": values})
    found = cut_windows(RecordedSet(**{**vars(series), "recordings": (one,)}), length=4)
    assert_allclose(found.training.values[:, :, 1], 0, atol=1e-12)
    assert_allclose(found.test.values[0, :, 1], values[found.test.starts[0] :][:4, 1] - 0.1)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_class_of_a_window(classes):
    series = make_series(400, classes=classes)
    found = cut_windows(series, length=9, stride=2)
    for name in PARTS:
        part = getattr(found, name)
        for start, label in zip(part.starts, part.labels, strict=True):
            rows = series.recordings[0].labels[start : start + 9].tolist()
            if classes == 2:
                assert label == (1 if 1 in rows else 0)
            else:
                counts = Counter(rows)
                best = [one for one in counts if counts[one] == max(counts.values())]
                assert label == max(best, key=lambda one: max(k for k, row in enumerate(rows) if row == one))


def test_class_weights_make_classes_weigh_alike():
    found = cut_windows(make_series(500, classes=3), length=4)
    counts = np.bincount(found.training.labels)
    assert_allclose(found.weights * counts, len(found.training.labels) / 3)


def test_series_that_are_too_short_are_left_out_and_series_without_labels_too():
    found = cut_windows(make_series(600, 20, 200, unlabelled=[2]), length=16)
    assert set(found.training.series) == {0}
    assert "too short for windows of 16 rows in three parts: r1" in found.notes


@pytest.mark.parametrize(
    ("series", "options", "said"),
    [
        (
            make_series(100, unlabelled=[0]),
            {},
            "the data set has no labels (r.csv); table:FILE.csv with a column of them",
        ),
        (
            make_series(30, 20),
            {"length": 50},
            "r.csv: windows are too long (50); three parts of the longest series, 30 rows,",
        ),
        (make_series(100), {"length": 25}, "r.csv: windows are too long (25)"),
        (make_series(100), {"length": 1}, "length is out of range (1)"),
        (make_series(100), {"length": 8, "stride": 9}, "stride is out of range (9); an integer from 1 to 8"),
        (make_series(100), {"length": 8, "stride": 0}, "stride is out of range (0)"),
    ],
)
def test_windows_that_are_refused(series, options, said):
    assert catch(cut_windows, series, kind=InputError, **options).startswith(said)


def test_parts_of_one_class():
    series = make_series(100)

    def mark(first, last):
        labels = np.zeros(100, dtype=int)
        labels[first:last] = 1
        one = Recording(**{**vars(series.recordings[0]), "labels": labels})
        return RecordedSet(**{**vars(series), "recordings": (one,)})

    assert catch(cut_windows, mark(90, 95), length=4, kind=InputError).startswith(
        "r.csv: all windows of training are of"
    )
    assert "of test are of one class (u)" in catch(cut_windows, mark(10, 15), length=4, kind=InputError)
    both = mark(10, 15)
    labels = both.recordings[0].labels.copy()
    labels[90:95] = 1
    one = Recording(**{**vars(series.recordings[0]), "labels": labels})
    found = cut_windows(RecordedSet(**{**vars(series), "recordings": (one,)}), length=4)
    assert found.notes[-1] == "no window of validation is of class v"


def test_too_many_numbers(monkeypatch):
    series = make_series(100)
    total = sum(len(getattr(cut_windows(series, length=4), name).labels) for name in PARTS)
    monkeypatch.setattr("pe_spectra.experiment.windows.MAX_HELD_ENTRIES", total * 4 * 3)
    cut_windows(series, length=4)
    monkeypatch.setattr("pe_spectra.experiment.windows.MAX_HELD_ENTRIES", total * 4 * 3 - 1)
    assert catch(cut_windows, series, length=4, kind=InputError).startswith("windows have too many numbers")


# ----------------------------------------------------------------------------------- forecasts


def read_ett(folder, lines):
    return read_dataset(f"ett:{write_lines(folder / 'ETTh1.csv', lines)}")


@pytest.mark.parametrize(("length", "stride"), [(16, 8), (16, 1), (13, 13), (None, None)])
def test_a_window_rises_where_the_next_one_is_higher(tmp_path, length, stride):
    found = cut_windows(read_ett(tmp_path, draw_ett(500)), length=length, stride=stride)
    oil = [Fraction(line.rpartition(",")[2]) for line in draw_ett(500)[1:]]
    assert found.classes == ("not rising", "rising")
    for name, first, end in zip(PARTS, (0, 300, 400), (300, 400, 500), strict=True):
        part, size = getattr(found, name), found.length
        # all that fit, and no step of the next window is beyond the part
        expected = range(first + (found.gap if first else 0), end - 2 * size + 1, found.stride)
        assert part.starts.tolist() == list(expected)
        for start, label in zip(part.starts.tolist(), part.labels.tolist(), strict=True):
            assert label == (sum(oil[start + size : start + 2 * size]) > sum(oil[start : start + size]))


@pytest.mark.parametrize("changed", PARTS)
def test_forecasts_of_a_part_know_nothing_of_the_others(tmp_path, changed):
    """An oil temperature of other sign in one part changes its labels alone, and in training the scale of all."""
    lines = draw_ett(500)
    found = cut_windows(read_ett(tmp_path, lines), length=16)
    rows = dict(zip(PARTS, ((0, 300), (300, 400), (400, 500)), strict=True))[changed]
    turned = [f"{load},{-float(oil)}" for load, _, oil in (line.rpartition(",") for line in lines[1:])]
    mixed = [turned[k] if rows[0] <= k < rows[1] else line for k, line in enumerate(lines[1:])]
    again = cut_windows(read_ett(tmp_path, [lines[0], *mixed]), length=16)
    for name in PARTS:
        before, after = getattr(found, name), getattr(again, name)
        assert (before.labels.tolist() == after.labels.tolist()) is (name != changed)
        assert np.array_equal(before.values, after.values) is (changed not in ("training", name))


def test_what_does_not_change_does_not_rise(tmp_path):
    """Sums of the same numbers in another order are equal; in float64 they need not be."""
    levels = [*[0.1, 0.2, 0.3, 0.3, 0.2, 0.1] * 20, *range(1, 31), *range(50), *range(25), *range(25, 0, -1)]
    assert sum(levels[:3]) != sum(levels[3:6])
    lines = [f"{line.rpartition(',')[0]},{level}" for line, level in zip(draw_ett(250)[1:], levels, strict=True)]
    found = cut_windows(read_ett(tmp_path, [ETT[0], *lines]), length=3, stride=3)
    assert found.training.labels.tolist() == [0] * 39 + [1] * 10


def test_files_that_are_too_short_to_forecast(tmp_path):
    path = tmp_path / "ETTh1.csv"
    said = "three parts of the longest series, {}, do not hold one each, and the next one behind it"
    for rows in (1, 2, 77):
        refused = catch(cut_windows, read_ett(tmp_path, draw_ett(rows)), length=8, stride=8, kind=InputError)
        number = f"{rows} row{'s' * (rows > 1)}"
        assert refused == f"{path}: windows are too long (8); {said.format(number)}"
    refused = catch(cut_windows, read_ett(tmp_path, draw_ett(80)), length=8, stride=8, kind=InputError)
    assert refused.startswith(f"{path}: all windows of test are of one class (")
    refused = catch(cut_windows, read_ett(tmp_path, ETT), kind=InputError)
    assert refused.startswith(f"{path}: windows are too long (32); ")


# ----------------------------------------------------------------------------------- cases


def make_cases(labels, *, tested=None, seed=0, steps=5):
    generator = np.random.default_rng(seed)

    def draw(chosen):
        values = generator.normal(loc=3, scale=7, size=(len(chosen), steps, 2))
        return Cases(values=values, labels=np.array(chosen, dtype=np.int64), origin="a.ts")

    return CaseSet(
        form="ucr",
        origin="a.ts",
        name="a",
        channels=("one", "two"),
        classes=("u", "v"),
        train=draw(labels),
        test=None if tested is None else draw(tested),
    )


def test_published_tests_stay_apart():
    cases = make_cases([0, 1] * 10, tested=[1, 0, 1])
    found = cut_windows(cases)
    assert (found.length, found.stride, found.gap) == (5, 0, 0)
    # every fourth of each class
    assert found.validation.series.tolist() == [6, 7, 14, 15]
    assert sorted([*found.training.series, *found.validation.series]) == list(range(20))
    assert found.test.labels.tolist() == [1, 0, 1]
    known = cases.train.values[found.training.series].reshape(-1, 2)
    expected = (cases.test.values - known.mean(axis=0)) / known.std(axis=0)
    assert_allclose(found.test.values, expected, rtol=1e-12)


def test_one_file_is_divided_by_class():
    found = cut_windows(make_cases([0] * 20 + [1] * 10), length=5)
    parts = [set(getattr(found, name).series.tolist()) for name in PARTS]
    assert sorted(set.union(*parts)) == list(range(30))
    assert sum(map(len, parts)) == 30
    assert [np.bincount(getattr(found, name).labels).tolist() for name in PARTS] == [[12, 6], [4, 2], [4, 2]]


def test_missing_values_become_the_mean():
    cases = make_cases([0, 1] * 10, tested=[1, 0])
    values = cases.train.values.copy()
    values[0, 2, 1] = np.nan
    lost = CaseSet(**{**vars(cases), "train": Cases(**{**vars(cases.train), "values": values})})
    found = cut_windows(lost)
    assert found.training.values[0, 2, 1] == 0
    known = values[found.training.series].reshape(-1, 2)
    assert_allclose(found.training.values[1], (values[1] - np.nanmean(known, axis=0)) / np.nanstd(known, axis=0))
    values = values.copy()
    values[:, :, 1] = np.nan
    lost = CaseSet(**{**vars(cases), "train": Cases(**{**vars(cases.train), "values": values})})
    assert catch(cut_windows, lost, kind=InputError).startswith("no case of training has a value (two)")


@pytest.mark.parametrize(
    ("cases", "options", "said"),
    [
        (make_cases([0, 1] * 10), {"length": 6}, "windows are not as long as the cases (6); 5, or none, is accepted"),
        (make_cases([0, 1] * 4), {}, "there are too few cases for a test (8); five of a class, or more"),
        (make_cases([0, 1] * 3, tested=[0, 1]), {}, "there are too few cases for validation (6)"),
    ],
)
def test_cases_that_are_refused(cases, options, said):
    assert catch(cut_windows, cases, kind=InputError, **options).startswith(said)
