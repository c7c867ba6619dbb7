""".safetensors: headers that are refused, and one tensor out of gigabytes."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from pe_spectra.files.tables import read_array
from tests.files.forms import entry, pack, refuse, write
from tests.pace import call_within


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"1234", "has 4 bytes"),
        (pack(b"{}", length=1 << 63), "a header of 9223372036854775808 bytes; at most 16777216"),
        (pack(b"{}", length=100), "cut off inside its header"),
        (pack(b""), "not a JSON object"),
        (pack(b"{}"), "holds no tensor"),
        (pack({"__metadata__": {"a": "b"}}), "holds no tensor"),
        (pack(b"[1]"), "not a JSON object"),
        (pack(b'{"a":'), "not JSON"),
        (pack(b'{"\xff": 1}'), "not UTF-8"),
        (pack(b'{"a":' * 50_000), "not JSON"),
        (pack(b'{"a": NaN}'), "header with NaN"),
        (pack(b'{"a": ' + b"9" * 5000 + b"}"), "is damaged"),
        (pack({"a": 1}), "does not describe tensor a"),
        (pack({"a": {"dtype": "F32"}}), "does not describe tensor a"),
        (pack({"a": {**entry((1, 1), 0, 4), "x": 1}}, b"1234"), "does not describe tensor a"),
        (pack(entry((1, 1), 0, 4), b"1234"), "describes no tensors"),
        (pack({"a": entry((1, True), 0, 4)}, b"1234"), "integers from 0 on"),
        (pack({"a": entry((1, 1.0), 0, 4)}, b"1234"), "integers from 0 on"),
        (pack({"a": entry((-1, 1), 0, 4)}, b"1234"), "integers from 0 on"),
        (pack({"a": entry((1 << 64, 1), 0, 4)}, b"1234"), "integers from 0 on"),
        (pack({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}}, b"1234"), "integers from 0 on"),
        (pack({"a": {"dtype": 4, "shape": [1], "data_offsets": [0, 4]}}, b"1234"), "integers from 0 on"),
        (pack(b'{"a":1,"a":1}'), "gives a twice"),
        (pack(b'{"a":{"dtype":"F32","dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}', b"1234"), "gives dtype twice"),
        (pack({"a": entry((1, 1), 0, 4)}, b"123"), "is cut off"),
        (pack({"a": entry((1, 1), 0, 4)}, b"12345"), "1 byte behind its data"),
        (pack({"a": entry((1, 1), 1, 5)}, b"12345"), "tensor a has a gap before it"),
        (pack({"a": entry((1, 1), 4, 0)}, b"1234"), "tensor a ends before it begins"),
        (pack({"a": entry((1, 1), 0, 4), "b": entry((1, 1), 0, 4)}, b"1234"), "tensor b lies on bytes of another"),
        (pack({"a": entry((1, 2), 0, 4)}, b"1234"), "tensor a has 4 bytes"),
        (pack({"a": entry((1 << 40, 1 << 40), 0, 4)}, b"1234"), "does not take"),
        (pack({"a": entry([1] * 65, 0, 4)}, b"1234"), "has 65 axes"),
        (pack({"a": entry((1, 4), 0, 4, "F8_E4M3")}, b"1234"), "of type F8_E4M3"),
        (pack({"a": entry((1, 4), 0, 4, "BOOL")}, b"1234"), "of type BOOL"),
        (pack({"a": entry((1, 4), 0, 4, "XX")}, b"1234"), "of type XX"),
        (pack({"a": entry((0, 4), 0, 0)}), "is empty (shape 0 x 4)"),
        (pack({"a": entry((4,), 0, 4, "U8")}, b"1234"), "no tensor of 2 axes; it has a (4)"),
    ],
)
def test_safetensors_that_are_refused(tmp_path, data, reason):
    assert reason in refuse(write(tmp_path / "t.safetensors", data))


def test_safetensors_with_types_that_are_not_read_beside_the_wanted_one(tmp_path):
    header = {"new": entry((3,), 0, 2, "F4"), "q": entry((3, 3), 2, 11, "F8_E5M2"), "z": entry((0, 2), 2, 2),
              "pos_embed": entry((1, 2), 11, 15, "F16"), "__metadata__": {"format": "pt"}}  # fmt: skip
    data = pack(header, bytes(11) + np.array([1, 2], "<f2").tobytes())
    assert_array_equal(read_array(write(tmp_path / "t.safetensors", data)).values, [[1, 2]])


def test_too_many_tensors_are_refused_before_they_are_parsed(tmp_path):
    one = '"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    path = write(tmp_path / "t.safetensors", pack(("{" + ",".join(one % n for n in range(65537)) + "}").encode()))
    assert "too many tensors (65537)" in call_within(1, lambda: refuse(path))
    path = write(tmp_path / "t.safetensors", pack(("{" + ",".join(f'"{n}":1' for n in range(600_000)) + "}").encode()))
    assert "too many tensors (0) or other things" in refuse(path)


def make_sparse(path, size=3 << 30):
    """One table of 1024 x 768 at the end of a file of `size` bytes that takes no room on the disk."""
    table = np.random.default_rng(0).standard_normal((1024, 768)).astype(np.float32)
    width = size // 4 // 4096
    first = width * 4096 * 4
    header = {
        "wte.weight": entry((4096, width), 0, first),
        "wpe.weight": entry(table.shape, first, first + table.nbytes),
    }
    text = pack(header)
    with open(path, "wb") as file:
        file.write(text)
        file.seek(len(text) + first)
        file.write(table.tobytes())
    return table


def test_one_tensor_out_of_a_file_of_gigabytes_costs_that_tensor(tmp_path):
    path = tmp_path / "t.safetensors"
    table = make_sparse(path)
    assert path.stat().st_size > 3 << 30
    if path.stat().st_blocks * 512 > 1 << 28:
        pytest.skip("the file system has no sparse files")
    call_within(1, lambda: read_array(path))
    tracemalloc.start()
    found = read_array(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_array_equal(found.values, table)
    assert peak < 2 * table.nbytes + (8 << 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", ["float16.safetensors", "bfloat16.safetensors", "float16.npy", "float16-fortran.npy", "npz", "csv"]
)
def test_no_more_than_four_times_the_table_is_held(tmp_path, form):
    table = np.random.default_rng(0).integers(0, 9, (8192, 256)).astype(np.float16)
    path = tmp_path / f"t.{form.rpartition('.')[2]}"
    if form.endswith("safetensors"):
        save_file({"a": table.astype(form.partition(".")[0])}, path)
    elif form == "csv":
        write(path, "\n".join(",".join(str(int(x)) for x in row) for row in table) + "\n")
    elif form == "npz":
        np.savez(path, a=table)
    else:
        np.save(path, np.asfortranarray(table) if "fortran" in form else table)
    size = path.stat().st_size
    read_array(path)
    tracemalloc.start()
    found = read_array(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_array_equal(found.values, table.astype(np.float64))
    assert peak < 4.5 * size + (8 << 20)  # the file's four times are the float64 numbers themselves
