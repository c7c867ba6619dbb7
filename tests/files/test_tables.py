"""Tables that a person names as files: the same numbers from each form, and content that must agree with the name."""

import itertools
import os
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from pe_spectra.files import arrays
from pe_spectra.files.tables import read_array
from tests.files.forms import TABLE, entry, npy_bytes, pack, refuse, write, write_forms
from tests.in_one import in_one

# ----------------------------------------------------------------------------------- the same numbers from each


def test_the_same_table_in_every_form_gives_the_same_numbers(tmp_path):
    forms = write_forms(tmp_path)
    assert len(forms) == 18
    for path, tensor, dtype in forms:
        for named in {tensor, None}:
            found = read_array(path, named, label="-e")
            assert_array_equal(found.values, TABLE, err_msg=str(path))
            assert (found.dtype, found.tensor) == (dtype, tensor), path
            assert found.values.dtype == np.float64
            assert found.values.flags.c_contiguous
            assert found.values.dtype.isnative
            with pytest.raises(ValueError, match="read-only"):
                found.values[0, 0] = 1


NUMBERS = [f"float{n}" for n in (16, 32, 64)] + [f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64)]


@in_one("dtype, order, axes, version", itertools.product(NUMBERS, "<>", "CF", [(1, 0), (2, 0), (3, 0)]))
def test_npy_of_every_type_and_order(tmp_path, dtype, order, axes, version):
    table = np.array((TABLE * 8 + 20), order=axes).astype(np.dtype(dtype).newbyteorder(order), order=axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a version that is newer than the array needs
        path = write(tmp_path / "t.npy", npy_bytes(table, version=version))
    found = read_array(path)
    assert_array_equal(found.values, table.astype(np.float64))
    assert found.dtype == dtype


def test_a_table_larger_than_a_chunk_in_either_order(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK", 64)
    table = np.random.default_rng(0).standard_normal((37, 11))
    for order in "CF":
        path = write(tmp_path / "t.npy", npy_bytes(np.array(table, order=order)))
        assert_array_equal(read_array(path).values, table)
    cube = np.random.default_rng(0).standard_normal((1, 3, 5, 7))
    path = write(tmp_path / "t.npy", npy_bytes(np.asfortranarray(cube)))
    assert_array_equal(read_array(path, axes=(3,)).values, cube[0])


@pytest.mark.parametrize("dtype", ["I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"])
def test_safetensors_integers(tmp_path, dtype):
    kind = {"I": "i", "U": "u"}[dtype[0]] + str(int(dtype[1:]) // 8)
    table = np.arange(6).reshape(2, 3).astype(kind)
    path = write(tmp_path / "t.safetensors", pack({"a": entry((2, 3), 0, table.nbytes, dtype)}, table.tobytes()))
    assert_array_equal(read_array(path).values, table)


def test_every_bfloat16_is_read_as_its_bits_say(tmp_path):
    bits = np.arange(1 << 16, dtype=np.uint32)
    values = (bits << 16).view(np.float32)
    bits = bits[np.isfinite(values)]
    path = write(
        tmp_path / "t.safetensors",
        pack({"a": entry((1, bits.size), 0, 2 * bits.size, "BF16")}, bits.astype("<u2").tobytes()),
    )
    assert_array_equal(read_array(path).values[0], values[np.isfinite(values)].astype(np.float64))


def test_leading_axes_of_length_1_are_left_out_and_that_is_said(tmp_path):
    path = write(tmp_path / "t.npy", npy_bytes(TABLE[None, None]))
    found = read_array(path)
    assert_array_equal(found.values, TABLE)
    assert found.notes == ("shape 1 x 1 x 7 x 5 read as 7 x 5",)
    row = write(tmp_path / "row.npy", npy_bytes(TABLE[:1]))
    assert read_array(row).values.shape == (1, 5)
    assert read_array(row, axes=(1,)).values.shape == (5,)
    assert read_array(row, axes=(1, 2)).values.shape == (1, 5)
    assert "7 x 5" in refuse(write(tmp_path / "t.npy", npy_bytes(TABLE)), axes=(1, 3))


def test_integers_beyond_the_exact_ones_are_counted(tmp_path):
    edge = 1 << 53
    path = write(tmp_path / "t.npy", npy_bytes(np.array([[edge, edge + 1], [-edge - 1, 0]])))
    assert read_array(path).notes == ("integers beyond 2**53 were rounded to float64 (2 cells)",)
    path = write(tmp_path / "u.npy", npy_bytes(np.array([[(1 << 64) - 1]], dtype=np.uint64)))
    assert read_array(path).notes == ("integers beyond 2**53 were rounded to float64 (1 cell)",)
    path = write(tmp_path / "f.npy", npy_bytes(np.array([[1e300, edge]])))
    assert read_array(path).notes == ()


@pytest.mark.parametrize("bits", [0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001])
def test_the_first_cell_that_is_not_finite_is_named(tmp_path, bits):
    """0x7f800001 is a signalling NaN: NumPy warns when it is widened."""
    table = np.zeros((3, 4), np.float32)
    table.view(np.uint32)[1, 2] = table.view(np.uint32)[2, 1] = bits
    for order in "CF":
        said = refuse(write(tmp_path / "t.npy", npy_bytes(np.array(table, order=order))))
        assert re.search(r"row 1, column 2 is (-?inf|nan); finite", said)
    assert "entry 6 is" in refuse(write(tmp_path / "t.npy", npy_bytes(table.reshape(-1))), axes=(1,))


def test_a_bad_cell_behind_the_first_chunk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK", 64)
    table = np.zeros((100, 3))
    table[77, 2] = np.nan
    assert "row 77, column 2 is nan" in refuse(write(tmp_path / "t.npy", npy_bytes(table)))


# ----------------------------------------------------------------------------------- what is no file of the kind


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".pkl", ".PT", ".ckpt"])
def test_pickles_are_refused_with_the_line_that_converts_them(tmp_path, suffix):
    said = refuse(write(tmp_path / f"model{suffix}", b"\x80\x02N."))
    assert f"torch.load('model{suffix}'" in said
    assert "weights_only=True" in said
    assert "safetensors" in said


def test_a_name_that_could_break_the_line_is_not_in_it(tmp_path):
    said = refuse(write(tmp_path / "a'); evil('.pt", b""))
    assert "torch.load('FILE.pt'" in said
    assert "evil" not in said.partition("python -c")[2]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("t.npy", b"", "is empty (0 bytes)"),
        ("t.csv", npy_bytes(TABLE), "is named .csv, but is a NumPy array"),
        ("t.npy", b"PK\x03\x04", "is named .npy, but is a zip archive"),
        ("t.safetensors", npy_bytes(TABLE), "but is a NumPy array"),
        ("t.npy", pack({"a": entry((1, 1), 0, 4)}, b"1234"), "but is a .safetensors file"),
        ("t.json", b"GGUF1234", "but is a GGUF file"),
        ("t.csv", b"\x1f\x8b123", "but is a file of gzip"),
        ("t.npz", b"\x89HDF\r\n\x1a\n", "but is a file of HDF5"),
        ("t.gguf", b"GGUF1234", "a .gguf file has more"),
        ("t.dat", b"\x89PNG\r\n\x1a\n", "is a picture (PNG)"),
        ("t.dat", b"1,2\n", "of an unknown kind"),
        ("t.json", b'{"hidden_size": 64}', "is a configuration and holds no table"),
    ],
)
def test_content_and_extension_must_agree(tmp_path, name, data, reason):
    assert reason in refuse(write(tmp_path / name, data))


def test_content_decides_where_the_extension_says_nothing(tmp_path):
    for name in ("t", "t.dat"):
        assert_array_equal(read_array(write(tmp_path / name, npy_bytes(TABLE))).values, TABLE)
        save_file({"a": TABLE}, tmp_path / name)
        assert_array_equal(read_array(tmp_path / name).values, TABLE)
        with open(tmp_path / name, "wb") as file:
            np.savez(file, a=TABLE)
        assert_array_equal(read_array(tmp_path / name).values, TABLE)
    assert_array_equal(read_array(write(tmp_path / "T.NPY", npy_bytes(TABLE))).values, TABLE)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "f.npy")
    assert "named pipe" in refuse(tmp_path / "f.npy")
    assert "device" in refuse("/dev/zero")
    (tmp_path / "l.npy").symlink_to("l.npy")
    assert "loop" in refuse(tmp_path / "l.npy")
    assert "too long" in refuse(tmp_path / ("x" * 300 + ".npy"))
    assert "no such file" in refuse(tmp_path / "none.npy")
    assert "no possible name" in refuse("a\0b.npy")
    write(tmp_path / "real.npy", npy_bytes(TABLE))
    (tmp_path / "link.npy").symlink_to("real.npy")
    assert_array_equal(read_array(tmp_path / "link.npy").values, TABLE)


@pytest.mark.parametrize(
    "fault", [MemoryError("x" * 99), RuntimeError("allow_pickle=True"), OSError(5, "text"), KeyError("k")]
)
def test_whatever_is_raised_inside_is_our_error_and_leaves_no_descriptor(tmp_path, monkeypatch, fault):
    path = write(tmp_path / "t.npy", npy_bytes(TABLE))
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0

    def fail(*_, **__):
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr("pe_spectra.files.numpy_files.read_stored", fail)
        said = refuse(path)
    assert said in {
        "needs more memory than there is (--encoding)",
        "is damaged, it cannot be read (--encoding)",
        "input or output failed (--encoding)",
    }
    assert (len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0) == before
