""".safetensors: headers that are refused, and one tensor out of gigabytes."""

import tracemalloc
from fractions import Fraction

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
        (pack({"a": entry((1, 4), 0, 4, "F8_E8M0")}, b"1234"), "of type F8_E8M0"),
        (pack({"a": entry((1, 4), 0, 4, "F8_E4M3")}, b"\x00\x01\x7f\x02"), "row 0, column 2 is nan; finite numbers"),
        (pack({"a": entry((1, 4), 0, 4, "F8_E4M3FNUZ")}, b"\x00\x01\x80\x02"), "row 0, column 2 is nan; finite"),
        (pack({"a": entry((1, 4), 0, 4, "F8_E5M2")}, b"\x00\x01\xfc\x02"), "row 0, column 2 is -inf; finite numbers"),
        (pack({"a": entry((1, 3), 0, 2, "F4")}, b"12"), "tensor a has 2 bytes, which its shape (1 x 3) does not take"),
        (pack({"a": entry((1, 3), 0, 1, "F4")}, b"1"), "tensor a has 1 byte, which its shape (1 x 3) does not take"),
        (pack({"a": entry((1, 4), 0, 4, "BOOL")}, b"1234"), "of type BOOL"),
        (pack({"a": entry((1, 4), 0, 4, "XX")}, b"1234"), "of type XX"),
        (pack({"a": entry((0, 4), 0, 0)}), "is empty (shape 0 x 4)"),
        (pack({"a": entry((4,), 0, 4, "U8")}, b"1234"), "no tensor of 2 axes; it has a (4)"),
    ],
)
def test_safetensors_that_are_refused(tmp_path, data, reason):
    assert reason in refuse(write(tmp_path / "t.safetensors", data))


#: Bytes of every number of eight bits, but for those that are not finite.
NARROW = {
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2": "float8_e5m2",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}


def decode_slowly(byte, exponent_bits, bias):
    """A number of one bit of sign, some of exponent and the rest of mantissa, as the format defines it."""
    mantissa_bits = 7 - exponent_bits
    sign, rest = -1 if byte >> 7 else 1, byte & 127
    exponent, mantissa = rest >> mantissa_bits, Fraction(rest & ((1 << mantissa_bits) - 1), 1 << mantissa_bits)
    power = Fraction(2) ** ((exponent or 1) - bias)
    return float(sign * power * ((1 if exponent else 0) + mantissa))


@pytest.mark.parametrize(
    ("name", "bits", "bias", "odd"),
    [
        ("F8_E4M3", 4, 7, {0x7F, 0xFF}),
        ("F8_E5M2", 5, 15, {*range(0x7C, 0x80), *range(0xFC, 0x100)}),
        ("F8_E4M3FNUZ", 4, 8, {0x80}),
        ("F8_E5M2FNUZ", 5, 16, {0x80}),
    ],
)
def test_every_finite_number_of_eight_bits_is_read(tmp_path, name, bits, bias, odd):
    stored = bytes(byte for byte in range(256) if byte not in odd)
    data = pack({"pos_embed": entry((len(stored), 1), 0, len(stored), name)}, stored)
    found = read_array(write(tmp_path / "t.safetensors", data))
    assert found.values[:, 0].tolist() == [decode_slowly(byte, bits, bias) for byte in stored]
    assert (found.dtype, found.notes) == (NARROW[name], ())


def test_numbers_of_four_bits_lie_two_in_a_byte_the_first_in_the_low_bits(tmp_path):
    """PyTorch's float4_e2m1fn_x2, val1 : val0 from the highest bit down; ONNX packs them alike."""
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    stored = bytes([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE])
    data = pack({"pos_embed": entry((4, 4), 0, 8, "F4")}, stored)
    found = read_array(write(tmp_path / "t.safetensors", data))
    assert found.values.reshape(-1).tolist() == [*values, *(-value for value in values)]
    assert found.dtype == "float4_e2m1fn"


@pytest.mark.parametrize("scale", ["pe.weight_scale", "pe.weight_scale_inv", "pe.scale_weight"])
def test_a_scale_beside_narrow_numbers_is_named_and_not_applied(tmp_path, scale):
    header = {"pe.weight": entry((1, 2), 0, 2, "F8_E4M3"), scale: entry((1,), 2, 6), "logit_scale": entry((1,), 6, 10)}
    path = write(tmp_path / "t.safetensors", pack(header, b"\x38\x40" + bytes(8)))
    found = read_array(path, "pe.weight")
    assert found.values.tolist() == [[1.0, 2.0]]
    note = f"its numbers are as they are stored: {scale}, a tensor beside it, is not applied"
    assert found.notes == (note,)
    header["pe.weight"]["dtype"] = "F16"
    header["pe.weight"]["shape"] = [1, 1]
    assert read_array(write(path, pack(header, b"\x38\x40" + bytes(8))), "pe.weight").notes == ()


def test_safetensors_with_types_that_are_not_read_beside_the_wanted_one(tmp_path):
    header = {"new": entry((3,), 0, 2, "F6_E2M3"), "q": entry((3, 3), 2, 11, "F8_E8M0"), "z": entry((0, 2), 2, 2),
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
