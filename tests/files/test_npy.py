"""Files of NumPy: .npy headers good and bad."""

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.files.tables import read_array
from tests.files.forms import HEAD, TABLE, npy_bytes, npy_header, refuse, write


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("{" + HEAD + "(2, 2)}", "is cut off: its header claims 32 bytes of data, it has 16"),
        ("{" + HEAD + "(1, 1)}", "has 8 bytes behind its data"),
        ("{" + HEAD + "(-1, 2)}", "shape is no tuple"),
        ("{" + HEAD + "(True, 2)}", "shape is no tuple"),
        ("{" + HEAD + "(1,,2)}", "shape is no tuple"),
        ("{" + HEAD + "1}", "header that is not readable"),
        ("{" + HEAD + "(1, 2), 'shape': (1, 2)}", "header that is not readable"),
        ("{" + HEAD + "(1, 2), 'x': 1}", "header that is not readable"),
        ("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 2)}", "header that is not readable"),
        ("{'descr': '<f8', 'fortran_order': 'no', 'shape': (1, 2)}", "fortran_order is neither"),
        ("{'descr': '<f8', 'shape': (1, 2)}", "header that is not readable"),
        ("[1]", "header that is not readable"),
        ("", "header that is not readable"),
        ("{", "header that is not readable"),
        ("{" + HEAD + "(1, 2)", "header that is not readable"),
        ("{'descr': True, 'fortran_order': False, 'shape': (1, 2)}", "several fields"),
        ("{'descr': '<f1', 'fortran_order': False, 'shape': (1, 2)}", "floats of 8 bits, of which NumPy does not say"),
        ("{'descr': '<f16', 'fortran_order': False, 'shape': (1, 2)}", "depends on the machine"),
        ("{'descr': '', 'fortran_order': False, 'shape': (1, 2)}", "unknown type"),
        ("{" + HEAD + "(1, 65537)}", "65537 columns; at most 65536"),
        ("{" + HEAD + "(67108865,)}", "has 1 axis"),
        ("{" + HEAD + "(8193, 8192)}", "too many numbers (shape 8193 x 8192)"),
        ("{" + HEAD + f"({'9' * 41}, 1)" + "}", "shape is no tuple"),
        ("{" + HEAD + "(0, 4)}", "is empty (shape 0 x 4)"),
        ("{" + HEAD + "()}", "has no axes (a single number)"),
        ("{" + HEAD + "(2, 2, 2)}", "has 3 axes (shape 2 x 2 x 2); an array of 2 is accepted"),
        ("{" + HEAD + f"({'2, ' * 20})" + "}", "has 20 axes (shape 2 x 2 x 2 x 2 x 2 x 2 x 2 x 2 x ..)"),
        ("{" + HEAD + f"({'1, ' * 33})" + "}", "has 33 axes; at most 32"),
        ("(" * 4900, "header that is not readable"),
        ("-" * 4000 + "1", "header that is not readable"),
        (" " * 9999 + "\\d", "bytes; at most 10000"),
    ],
)
def test_npy_headers_that_are_refused(tmp_path, header, reason):
    assert reason in refuse(write(tmp_path / "t.npy", npy_header(header, data=bytes(16))))


def test_npy_headers_as_others_write_them(tmp_path):
    """Python 2 wrote 2L; other writers use double quotes, another order, no blanks."""
    for header in (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 2L), }",
        '{"shape":(1,2),"fortran_order":False,"descr":"<f8"}',
        "{'shape': (1, 2,), 'descr': '=f8', 'fortran_order': True}   \n",
    ):
        path = write(tmp_path / "t.npy", npy_header(header, data=np.array([3.0, 4.0]).tobytes()))
        assert_array_equal(read_array(path).values, [[3, 4]])


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.ones((2, 2), bool), "booleans"),
        (np.ones((2, 2), complex), "complex numbers"),
        (np.ones((2, 2), "m8[s]"), "durations"),
        (np.full((2, 2), b"a"), "text"),
        (np.zeros(3, [("a", "f8"), ("b", "i4")]), "several fields"),
        (np.zeros(3, [("a", "f8", (2,))]), "several fields"),
        (np.zeros((2, 2), ml_dtypes.bfloat16), "opaque bytes, as NumPy writes bfloat16"),
        (np.zeros((2, 2), ml_dtypes.float8_e4m3fn), "opaque bytes, as NumPy writes bfloat16 and float8"),
    ],
)
def test_npy_types_that_are_refused_by_name(tmp_path, array, word):
    said = refuse(write(tmp_path / "t.npy", npy_bytes(array)))
    assert word in said
    assert "float32, float64 and integers are accepted" in said


@pytest.mark.parametrize("version", [(0, 0), (1, 1), (4, 0), (9, 0)])
def test_npy_versions_that_are_not_known(tmp_path, version):
    data = npy_header("{" + HEAD + "(1, 2)}", data=bytes(16))
    assert "unknown version" in refuse(write(tmp_path / "t.npy", data[:6] + bytes(version) + data[8:]))


def test_npy_cut_anywhere_is_refused(tmp_path):
    data = npy_bytes(TABLE)
    for length in [*range(140), len(data) - 1]:
        refuse(write(tmp_path / "t.npy", data[:length]))
    refuse(write(tmp_path / "t.npy", data + b"\0"))
