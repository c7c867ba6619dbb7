"""Columns of .parquet files: with pyarrow where it is installed, and else what is made of what it gives."""

import datetime
import sys
from decimal import Decimal
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.files.recorded_series import read_series

ROWS = 100
TIMES = [datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=30 * row) for row in range(ROWS)]


class Kind(str):
    """A type of pyarrow by its name, as far as it is asked for."""

    __slots__ = ()

    @property
    def value_type(self):
        return Kind("string")

    @property
    def tz(self):
        return "UTC" if self == "timestamp" else None


class Cells:
    """A column of pyarrow, as far as it is asked for."""

    def __init__(self, kind, values, null_count=0):
        self.type, self.values, self.null_count = Kind(kind), values, null_count

    def combine_chunks(self):
        return self

    def cast(self, kind, **_):
        return Cells(kind, self.values, self.null_count)

    def to_numpy(self, zero_copy_only):
        assert not zero_copy_only
        return np.asarray(self.values)

    def to_pylist(self):
        return self.values


KINDS = ("timestamp", "date", "duration", "integer", "floating", "decimal", "null", "string", "large_string")
COLUMNS = {
    "when": Cells("timestamp", np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="datetime64[us]"), 1),
    "lasted": Cells("duration", np.array([0.0, np.nan, 2e6])),
    "whole": Cells("integer", np.arange(3)),
    "holes": Cells("integer", np.array([1.0, np.nan, 2.0]), 1),
    "real": Cells("floating", np.arange(3) / 2),
    "word": Cells("dictionary", ["a", None, "b"]),
    "text": Cells("string", [None, "2024-01-01", "2024-01-03"]),
    "list": Cells("nested", None),
    "truth": Cells("boolean", None),
}


@pytest.fixture
def arrow(monkeypatch):
    """A stand-in for pyarrow: what is read through it is looked at all the same."""
    library, parquet = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    library.__spec__ = parquet.__spec__ = ModuleSpec("pyarrow", None)
    library.PythonFile = lambda stream, **_: stream
    library.timestamp = library.duration = lambda _unit: "floating"
    library.float64 = library.int64 = lambda: "floating"
    fields = {name: SimpleNamespace(type=cells.type) for name, cells in COLUMNS.items()}
    kinds = (*KINDS, "dictionary", "nested")
    library.types = SimpleNamespace(**{f"is_{name}": lambda kind, name=name: kind == name for name in kinds})
    table = SimpleNamespace(
        metadata=SimpleNamespace(num_rows=3),
        schema_arrow=SimpleNamespace(names=list(COLUMNS), field=fields.__getitem__),
        read=lambda *, columns: SimpleNamespace(column=lambda _: COLUMNS[columns[0]]),
    )
    parquet.ParquetFile = lambda _: table
    library.parquet = parquet
    monkeypatch.setitem(sys.modules, "pyarrow", library)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    return table


@pytest.fixture
def some(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    return tmp_path / "a.parquet"


@pytest.mark.usefixtures("arrow")
def test_columns_of_each_kind(some):
    found = read_series(some)
    assert (found.timed, list(found.columns)) == ("when", ["lasted", "whole", "holes", "real"])
    np.testing.assert_array_equal(found.columns["holes"], [1, 2])
    np.testing.assert_array_equal(found.columns["lasted"], [0, 2])
    np.testing.assert_array_equal(found.times.seconds, [0, 86400])
    assert found.times.zoned
    assert found.notes[-1] == "left out, for they hold no numbers: word, list, truth and text"


@pytest.mark.usefixtures("arrow")
def test_dates_may_be_texts_and_only_what_is_asked_for_is_read(some, monkeypatch):
    monkeypatch.setitem(COLUMNS, "real", None)
    found = read_series(some, columns=["whole"], time="text")
    assert (found.timed, list(found.columns)) == ("text", ["whole"])
    np.testing.assert_array_equal(found.times.seconds, [0, 2 * 86400])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"time": "word"}, "column word holds no times"),
        ({"time": "list"}, "column list holds no times"),
        ({"columns": ["truth"]}, "column truth holds no numbers"),
        ({"columns": ["word", "real"]}, "column word holds no numbers"),
        ({"columns": ["none"]}, "has no column none; it has when, text, lasted, whole, holes, real, word and 2 more"),
    ],
)
@pytest.mark.usefixtures("arrow")
def test_what_holds_no_numbers_or_times_is_refused(some, given, told):
    with pytest.raises(FileError) as caught:
        read_series(some, **given)
    assert str(caught.value) == f"{some}: {told}"


def test_too_many_rows_and_names_that_are_there_twice(some, arrow, monkeypatch):
    arrow.metadata.num_rows = 1 << 40
    with pytest.raises(FileError, match="has 1099511627776 rows; at most 4194304 are accepted"):
        read_series(some)
    arrow.metadata.num_rows = 3
    monkeypatch.setattr(arrow.schema_arrow, "names", ["when", "real", "real"])
    with pytest.raises(FileError, match=r"has two columns with one name \(real\)"):
        read_series(some)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError("Invalid column metadata"), "is damaged, pyarrow cannot read it"),
        (ValueError("magic bytes"), "is damaged, it cannot be read"),
        (OSError(5, "Input/output error"), "error number 5|reading failed|input"),
    ],
)
def test_what_pyarrow_cannot_read_is_damaged(some, arrow, error, told):
    def fail(**_):
        raise error

    arrow.read = fail
    with pytest.raises(FileError, match=told):
        read_series(some)


# ----------------------------------------------------------------------------------- with pyarrow


def write(path, **columns):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({name: make(pyarrow) for name, make in columns.items()}), path, row_group_size=40)
    return path


def of(values, kind=None, *more):
    return lambda pa: pa.array(values, None if kind is None else getattr(pa, kind)(*more))


STAMPS = {
    "naive": of(TIMES, "timestamp", "us"),
    "nanoseconds": of(TIMES, "timestamp", "ns"),
    "zone": lambda pa: pa.array(
        [one.replace(tzinfo=datetime.UTC) for one in TIMES], pa.timestamp("ms", tz="Asia/Tokyo")
    ),
    "words": of([one.isoformat() for one in TIMES]),
    "words with zones": of([f"{one.isoformat()}+02:00" for one in TIMES]),
    "dictionary": lambda pa: pa.array([str(one) for one in TIMES]).dictionary_encode(),
    "large": of([str(one) for one in TIMES], "large_string"),
    "epoch": of([int(one.replace(tzinfo=datetime.UTC).timestamp() * 1000) for one in TIMES], "int64"),
    "nulls": of([*TIMES[:50], None, *TIMES[51:]], "timestamp", "us"),
}


@pytest.mark.parametrize("kind", STAMPS)
def test_times_of_every_kind(tmp_path, kind):
    found = read_series(write(tmp_path / "a.parquet", time=STAMPS[kind], x=of(np.arange(ROWS) / 2)))
    rows = np.delete(np.arange(ROWS), [50] if kind == "nulls" else [])
    np.testing.assert_array_equal(found.times.seconds, rows * 1800.0)
    np.testing.assert_array_equal(found.columns["x"], rows / 2)
    assert str(found.times.origin)[:10] in ("2024-01-01", "2023-12-31")
    assert found.times.zoned is (kind in ("zone", "words with zones"))


@pytest.mark.parametrize(
    "make",
    [
        of(np.arange(4), "int8"),
        of(np.arange(4), "uint64"),
        of(np.arange(4, dtype=np.float32)),
        of(np.arange(4, dtype=np.float16)),
        of([Decimal(row) for row in range(4)], "decimal128", 10, 3),
        lambda pa: pa.array(np.arange(4)).dictionary_encode(),
        of([datetime.timedelta(seconds=row) for row in range(4)], "duration", "ms"),
    ],
)
def test_numbers_of_every_kind(tmp_path, make):
    found = read_series(write(tmp_path / "a.parquet", x=make, word=of(list("abcd")), truth=of([True] * 4)))
    np.testing.assert_array_equal(found.columns["x"], np.arange(4.0))
    assert found.notes[-1] == "left out, for they hold no numbers: word and truth"


def test_nulls_are_missing_values(tmp_path):
    found = read_series(write(tmp_path / "a.parquet", x=of([1, None, 3]), y=of([None, 0.5, 1]), z=of([None] * 3)))
    np.testing.assert_array_equal(found.columns["x"], [1, np.nan, 3])
    np.testing.assert_array_equal(found.columns["y"], [np.nan, 0.5, 1])
    assert np.isnan(found.columns["z"]).all()


def test_a_damaged_file_has_one_line(tmp_path):
    path = write(tmp_path / "a.parquet", time=STAMPS["naive"], x=of(np.random.default_rng(0).standard_normal(ROWS)))
    good = path.read_bytes()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        data = bytearray(good[: rng.integers(8, len(good))] if seed % 3 == 0 else good)
        begin = int(rng.integers(0, len(data) - 8))
        for place in range(begin, min(len(data), begin + int(rng.integers(1, 200)))):
            data[place] ^= 0x55
        path.write_bytes(bytes(data))
        told = ""
        try:
            read_series(path)
        except FileError as error:
            told = str(error)
        assert "\n" not in told
        assert "error number" not in told
