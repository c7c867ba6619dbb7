"""Archives of NumPy: .npz members, compressions and directories that lie."""

import struct
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.files.tables import read_array
from tests.files.forms import TABLE, npy_bytes, refuse, write, zip_members
from tests.pace import call_within


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([], "no array"),
        ([("readme.txt", b"hi")], "no array"),
        ([("../a.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("a/../../b.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("..\\b.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("/a.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("a.npy", npy_bytes(TABLE)), ("a.npy", npy_bytes(TABLE))], "gives member a twice"),
        ([(f"{n}.npy", b"") for n in range(1025)], "too many members (1025); at most 1024"),
        ([("a.npy", bytes(20 << 20))], "at most 100 times is accepted above 16 MiB"),
        ([(f"{n}.npy", bytes(15 << 20)) for n in range(3)], "at most 100 times is accepted above 16 MiB"),
        ([("a.npy", b"")], "does not begin as a .npy file does"),
        ([("a.npy", npy_bytes(TABLE) + b"1")], "1 byte behind its data"),
        ([("a.npy", npy_bytes(TABLE)[:-1])], "is cut off"),
        ([("a.npy", npy_bytes(TABLE)), ("b.npy", npy_bytes(TABLE))], "a (7 x 5), b (7 x 5); name one"),
        ([("a.npy", npy_bytes(TABLE[0]))], "no tensor of 2 axes; it has a (5)"),
    ],
)
def test_npz_that_is_refused(tmp_path, members, reason):
    assert reason in refuse(zip_members(tmp_path / "t.npz", members))


def test_npz_members_that_are_no_arrays_do_not_hinder(tmp_path):
    path = zip_members(tmp_path / "t.npz", [("readme.txt", b"hi"), ("bad.npy", b"?"), ("pe.npy", npy_bytes(TABLE))])
    assert_array_equal(read_array(path).values, TABLE)
    assert "does not begin" in refuse(path, "bad")
    assert "no tensor readme.txt" in refuse(path, "readme.txt")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_npz_compressions_without_a_bound_are_refused(tmp_path, method):
    assert "unknown compression" in refuse(zip_members(tmp_path / "t.npz", [("a.npy", npy_bytes(TABLE))], method))


def test_npz_with_a_wrong_checksum_or_a_comment_is_refused(tmp_path):
    path = zip_members(tmp_path / "t.npz", [("a.npy", npy_bytes(TABLE))], zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    place = data.index(TABLE.tobytes())
    data[place] ^= 1
    assert "is damaged" in refuse(write(path, bytes(data)))
    assert "no complete zip archive" in refuse(write(path, path.read_bytes() + b"x"))


def test_npz_records_that_lie_are_refused(tmp_path):
    path = zip_members(
        tmp_path / "t.npz", [("a.npy", npy_bytes(TABLE)), ("b.npy", npy_bytes(TABLE))], zipfile.ZIP_STORED
    )
    data = path.read_bytes()
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 1)
    encrypted = data[: first + 8] + b"\1" + data[first + 9 :]
    assert "encrypted (a.npy)" in refuse(write(path, encrypted), "a")
    # both members of the directory lie where the first one does
    shared = data[second : second + 42] + bytes(4) + data[second + 46 :]
    size = len(npy_bytes(TABLE))
    body = data[:first]
    end = bytearray(shared[-22:])
    end[16:20] = struct.pack("<I", 40 + size)
    cut = body[: 40 + size] + data[first:second] + shared[:-22] + bytes(end)
    assert "lie on the same bytes" in refuse(write(path, cut), "b")
    few = zip_members(path, [(f"{n}.npy", b"") for n in range(1025)], zipfile.ZIP_STORED).read_bytes()
    assert "too many members" in refuse(write(path, few[:-14] + struct.pack("<HH", 1, 1) + few[-10:]))
    assert "name is no plain one" in refuse(write(path, data.replace(b"b.npy", b"b\0npy")), "a")
    locator = b"PK\x06\x07" + bytes(16)
    assert "no complete zip archive" in refuse(write(path, data[:-22] + locator + data[-22:]))


def test_npz_whose_directory_lies_about_its_number_is_refused_quickly(tmp_path):
    path = zip_members(tmp_path / "t.npz", [(f"{'n' * 200}{n}.npy", b"") for n in range(9000)], zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[-14:-10] = struct.pack("<HH", 1, 1)
    write(path, bytes(data))
    assert "has a directory of 2284890 bytes; at most 1048576" in call_within(1, lambda: refuse(path))


def test_npz_of_a_wide_directory_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1)  # as in archives of more than 4 GiB
    path = tmp_path / "t.npz"
    np.savez(path, pe=TABLE)
    assert b"PK\x06\x07" in path.read_bytes()
    assert_array_equal(read_array(path).values, TABLE)
