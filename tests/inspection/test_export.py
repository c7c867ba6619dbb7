"""What `export` takes away: every encoding, each kind of array, each kind of file, and back again bit for bit."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.export import (
    SUFFIXES,
    Exported,
    check_suffix,
    count_exported,
    encode_exported,
    export_encoding,
    list_exports,
    write_lines,
)
from pe_spectra.files.tables import read_array
from pe_spectra.inspection.resize import resize_table
from pe_spectra.metrics.measures import check_table
from pe_spectra.sources import build_encodings
from pe_spectra.spectrum import compute_spectrum
from pe_spectra.vocabulary import EXPORTED
from tests.in_one import in_one

LENGTH = 12


def make(cls):
    return cls(init="normal", length=LENGTH, d=8) if cls is Learned else cls()


def list_cases():
    for cls in ENCODINGS:
        encoding = make(cls)
        length = None if encoding.shape is not None else min(LENGTH, encoding.rows or LENGTH)
        for what in list_exports(encoding):
            yield pytest.param(encoding, what, length, id=f"{cls.name}-{what}")


@pytest.mark.few(24)
@pytest.mark.parametrize(("encoding", "what", "length"), list(list_cases()))
def test_every_array_is_read_back_bit_for_bit(encoding, what, length, tmp_path):
    found = export_encoding(encoding, what, length=length)
    assert found.values.dtype == np.float64
    assert found.values.shape == (len(found.index), len(found.columns))
    assert len(set(found.columns)) == len(found.columns)
    assert np.isfinite(found.values).all()
    assert found.index_name in ("position", "lag", "index")
    for suffix in SUFFIXES:
        path = tmp_path / f"a{suffix}"
        path.write_bytes(encode_exported(found, suffix))
        back = read_array(path, None, label="--encoding").values
        assert back.tobytes() == np.squeeze(found.values).reshape(back.shape).tobytes()


@pytest.mark.few(18)
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("cls", [cls for cls in ENCODINGS if hasattr(cls, "table") and cls is not Learned])
def test_a_table_analysed_again_is_the_same(cls, suffix, cli):
    encoding = cls()
    length = 12 if encoding.shape is None and encoding.rows is None else encoding.rows
    length = length or encoding.default_length
    done = cli(f"export {cls.name} --length {length} --what table --output a{suffix}")
    assert done.code == 0, done
    (again,) = build_encodings([f"a{suffix}"], {})
    assert isinstance(again, Learned)
    assert again.table(again.rows).tobytes() == encoding.table(length)[again.origin :].tobytes()


def test_what_can_be_taken_away():
    assert list_exports(make(Learned)) == ("table", "kernel")
    for cls in ENCODINGS:
        offered = list_exports(make(cls))
        assert offered
        for what in set(EXPORTED) - set(offered):
            with pytest.raises(InputError, match=f"has no {what} to export; it has {offered[0]}"):
                export_encoding(make(cls), what)


def test_kernels_and_biases_are_what_they_are_called():
    (alibi,) = build_encodings(["alibi:heads=4"], {})
    found = export_encoding(alibi, length=5)
    assert (found.what, found.index_name, found.columns) == ("bias", "lag", ("head0", "head1", "head2", "head3"))
    assert_array_equal(found.index, np.arange(5))
    assert_allclose(found.values[:, 0], -0.25 * np.arange(5))
    assert_allclose(export_encoding(alibi, "kernel", length=5).values, np.exp(found.values), rtol=1e-15)
    (both,) = build_encodings(["alibi:heads=4,causal=no"], {})
    assert_array_equal(export_encoding(both, length=3).index, [-2, -1, 0, 1, 2])
    (tupe,) = build_encodings(["tupe"], {})
    found = export_encoding(tupe, "bias", length=3)
    maps = tupe.bias_map(3)
    assert found.index_name == "position"
    assert found.columns[:4] == ("head0key0", "head0key1", "head0key2", "head1key0")
    for query in range(3):
        for head in range(len(maps)):
            assert_array_equal(found.values[query, 3 * head : 3 * head + 3], maps[head, query])
    (shaw,) = build_encodings(["shaw:clip=2,d=4"], {})
    found = export_encoding(shaw, "table", length=4)
    assert_array_equal(found.index, np.arange(-3, 4))
    assert_array_equal(found.values[0], found.values[1])


def test_kernels_of_two_sides_have_lags_of_two_sides():
    size = 5
    lags = np.arange(1 - size, size)
    for spec in ("t5:heads=2", "alibi:heads=2,causal=no", "erpe"):
        (encoding,) = build_encodings([spec], {})
        found = export_encoding(encoding, "kernel", length=size)
        assert_array_equal(found.index, lags)
        bias = encoding.bias(lags)
        for head in range(encoding.kernel_count):
            expected = [np.exp(value - max(bias[head])) for value in bias[head]]
            assert_allclose(found.values[:, head], expected, rtol=1e-14)
    (sided,) = build_encodings(["t5:heads=2"], {})
    values = export_encoding(sided, "kernel", length=size).values
    assert not np.allclose(values, values[::-1])  # both sides, not their mean


def test_kernels_of_maps_and_of_rows_of_lags_have_two_sides_as_well():
    size = 5
    (tupe,) = build_encodings(["tupe"], {})
    found = export_encoding(tupe, "kernel", length=size)
    assert_array_equal(found.index, np.arange(1 - size, size))
    maps = tupe.bias_map(size)
    for row, lag in enumerate(range(1 - size, size)):
        for head, one in enumerate(maps):
            at_lag = [np.exp(one[i, i - lag] - one.max()) for i in range(size) if 0 <= i - lag < size]
            assert_allclose(found.values[row, head], np.mean(at_lag), rtol=1e-13)
    (shaw,) = build_encodings(["shaw:clip=2,d=4"], {})
    found = export_encoding(shaw, "kernel", length=size)
    assert_array_equal(found.index, np.arange(1 - size, size))
    rows = shaw.lag_table(np.arange(1 - size, size))
    for lag, value in zip(found.index, found.values[:, 0], strict=True):
        apart = [rows[i] @ rows[i + abs(lag)] for i in range(len(rows) - abs(lag))]
        assert_allclose(value, np.mean(apart), rtol=1e-12)


def test_kernels_of_one_side_begin_at_0():
    for spec in ("alibi", "fire", "sinusoidal:d=4", "rnn", "one-hot:d=8"):
        (encoding,) = build_encodings([spec], {})
        assert_array_equal(export_encoding(encoding, "kernel", length=5).index, np.arange(5))


@in_one("encoding, what, length", list_cases())
def test_numbers_are_counted_before_they_are_computed(encoding, what, length):
    size = length or encoding.default_length
    found, counted = export_encoding(encoding, what, length=length).values.size, count_exported(encoding, what, size)
    assert found <= counted if what == "frequencies" else found == counted


def test_lags_of_two_sides_are_counted():
    (shaw,) = build_encodings(["shaw"], {})
    assert count_exported(shaw, "table", 10) == 1216  # 19 lags of width 64


def test_a_kernel_of_huge_or_tiny_numbers_is_true_or_refused():
    table = np.random.default_rng(0).normal(size=(6, 2))
    for scale in (1e-120, 1e130):
        kernel = export_encoding(Learned(values=table * scale), "kernel").values
        expected = export_encoding(Learned(values=table), "kernel").values * scale * scale
        assert_allclose(kernel, expected, rtol=1e-12)
    for scale in (1e-200, 1e200):
        with pytest.raises(InputError, match="beyond the range"):
            export_encoding(Learned(values=table * scale), "kernel")
    assert_array_equal(export_encoding(Learned(values=0 * table), "kernel").values, np.zeros((6, 1)))


def test_real_positions():
    (encoding,) = build_encodings(["sinusoidal:d=4"], {})
    times = np.array([0.25, -1.5, 3.0])
    found = export_encoding(encoding, positions=times)
    assert_array_equal(found.index, times)
    assert_allclose(found.values[:, 0], np.sin(times), rtol=1e-15)
    for spec, what, reason in (
        ("one-hot:d=4", "table", "takes no real positions"),
        ("sinusoidal", "kernel", "at real positions"),
        ("alibi", None, "at real positions"),
    ):
        (other,) = build_encodings([spec], {})
        with pytest.raises(InputError, match=reason):
            export_encoding(other, what, positions=times)


def test_results_are_read_only():
    found = export_encoding(make(Learned))
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1.0


# ----------------------------------------------------------------------------------- files


def test_text_has_every_digit_and_the_index_first():
    values = np.array([[0.1, -0.0], [5e-324, 1.7976931348623157e308]])

    def write(index_name, index, **options):
        found = {"what": "table", "index_name": index_name, "index": index, "columns": ("a", "b"), "values": values}
        return write_lines(Exported(encoding=make(Learned), **found), **options)

    text = write("lag", np.array([-1, 2]))
    assert text == "lag,a,b\n-1,0.1,-0.0\n2,5e-324,1.7976931348623157e+308\n"
    assert write("position", np.array([0.5, 1e-9]), delimiter="\t").startswith("position\ta\tb\n0.5\t")


def test_endings():
    for suffix in (*SUFFIXES, ".NPY", ".Csv"):
        assert check_suffix(Path(f"a.b{suffix}"), "--output") == suffix.lower()
    for name in ("a", "a.pt", "a.json", "a.npy.gz", ".npy"):
        with pytest.raises(InputError, match="--output is no name of a file for an array"):
            check_suffix(Path(name), "--output")


def test_safetensors_say_where_they_are_from(tmp_path):
    from safetensors import safe_open

    (encoding,) = build_encodings(["sinusoidal:d=4"], {})
    path = tmp_path / "a.safetensors"
    path.write_bytes(encode_exported(export_encoding(encoding, length=3), ".safetensors"))
    with safe_open(path, "numpy") as file:
        assert list(file.keys()) == ["table"]
        assert file.metadata() == {"encoding": encoding.spec, "what": "table"}
        assert_array_equal(file.get_tensor("table"), encoding.table(3))


# ----------------------------------------------------------------------------------- the command


def test_a_dash_is_csv_on_stdout(cli, tmp_path):
    done = cli("export alibi:heads=2 --length 3 --output -")
    assert (done.code, done.out) == (0, "lag,head0,head1\n0,0.0,0.0\n1,-0.0625,-0.00390625\n2,-0.125,-0.0078125\n")
    assert list(tmp_path.iterdir()) == []
    done = cli("export sinusoidal:d=2 --positions 0:1:0.5 --output -")
    assert done.out.splitlines()[0] == "position,c0,c1"
    assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["0.0", "0.5"]


def test_first_columns(cli, tmp_path):
    for what, first in (("table", "position"), ("kernel", "lag"), ("frequencies", "index")):
        assert cli(f"export sinusoidal:d=4 --what {what} --length 3 --output a.csv").code == 0
        lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
        assert lines[0].split(",")[0] == first
        assert [line.split(",")[0] for line in lines[1:]] == [str(i) for i in range(len(lines) - 1)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export sinusoidal", ["--output is missing"]),
        ("export sinusoidal --output a.txt", ["--output", ".npy"]),
        ("export sinusoidal --what bias --output a.npy", ["no bias", "table"]),
        ("export sinusoidal --what tables --output a.npy", ["--what", "tables"]),
        ("export sinusoidal --length 0 --output a.npy", ["--length", "0"]),
        ("export sinusoidal --length 3 --positions 0:1:0.5 --output a.npy", ["exclude each other"]),
        ("export sinusoidal --d 4 6 --output a.npy", ["6"]),
        ("export one-hot:d=4 --positions 0:1:0.5 --output a.npy", ["real positions"]),
        ("export nothing --output a.npy", ["SPEC"]),
        ("export sinusoidal --output missing/a.npy", ["missing"]),
    ],
)
def test_what_cannot_be_taken_away(refuse, line, words):
    message = refuse(line)
    for word in words:
        assert word in message


def test_the_spectrum_of_what_was_exported(cli, tmp_path):
    (encoding,) = build_encodings(["rnn:d=6"], {})
    assert cli("export rnn:d=6 --length 30 --output a.tsv").code == 0
    (again,) = build_encodings([str(tmp_path / "a.tsv")], {})
    assert_allclose(compute_spectrum(again).weights, compute_spectrum(encoding, length=30).weights, atol=1e-14)


# ----------------------------------------------------------------------------------- numbers in words


def test_what_cannot_be_held_is_refused_before_it_is_made():
    # a view: one number in memory
    with pytest.raises(InputError, match="table has too many entries"):
        check_table(np.broadcast_to(1.0, (8193, 8192)))
    with pytest.raises(InputError, match="the resized table is too large"):
        resize_table(np.ones((2, 1 << 13)), 1 << 14)
