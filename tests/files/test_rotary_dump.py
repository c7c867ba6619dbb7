"""Dumps of ports: which array of a file is read as frequencies, or which two as cosines and sines."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.errors import FileError
from pe_spectra.files.tables import read_array
from pe_spectra.model_sources import _read_rotary_dump, read_side

LADDER = (1e4 ** (-np.arange(0, 16, 2) / 16)).astype(np.float32)


def make_waves(rows=32, ladder=LADDER):
    angles = np.arange(rows)[:, None] * ladder.astype(float)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


COS, SIN = make_waves()
OTHER = np.ones((3, 4), np.float32)
#: Arrays by name, the tensor that is asked for, and the names that are read.
CHOICES = [
    ({"inv_freq": LADDER}, None, ("inv_freq",)),
    ({"model.rotary_emb.inv_freq": LADDER, "w": OTHER}, None, ("model.rotary_emb.inv_freq",)),
    ({"rope/inv_freq": LADDER, "w": OTHER}, None, ("rope/inv_freq",)),
    ({"b.inv_freq": LADDER, "a.inv_freq": LADDER}, None, ("a.inv_freq",)),
    ({"x_inv_freq": LADDER, "inv_freq": LADDER[:4]}, None, ("inv_freq",)),
    ({"inv_freq": LADDER, "w": LADDER[:4]}, "w", ("w",)),
    ({"cos_sin_cache": np.hstack([COS, SIN]), "w": OTHER}, None, ("cos_sin_cache",)),
    ({"cos": COS, "sin": SIN, "w": OTHER}, None, ("cos", "sin")),
    ({"cos_cached": COS, "sin_cached": SIN}, None, ("cos_cached", "sin_cached")),
    ({"a.cos": COS, "b.cos": COS, "b.sin": SIN}, None, ("b.cos", "b.sin")),
    ({"a.cos": COS, "a.sin": SIN, "b.cos": COS, "b.sin": SIN}, "b.cos", ("b.cos", "b.sin")),
    ({"a.cos": COS, "a.sin": SIN, "b.cos": COS, "b.sin": SIN}, "b.sin", ("b.cos", "b.sin")),
    ({"cos": COS, "sin": SIN, "w": OTHER}, "w", ("w",)),
    ({"anything": LADDER}, None, ("anything",)),
]


def save(path, arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        save_file({name: np.ascontiguousarray(values) for name, values in arrays.items()}, path)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize(("arrays", "tensor", "names"), CHOICES)
def test_which_arrays_are_read(tmp_path, arrays, tensor, names, suffix):
    found = _read_rotary_dump(save(tmp_path / f"port{suffix}", arrays), tensor, "")
    read = [one for one in found if one is not None]
    assert tuple(one.tensor for one in read) == names
    for one in read:
        np.testing.assert_array_equal(one.values, arrays[one.tensor])


def test_the_first_of_several_is_read_and_said(tmp_path):
    arrays = {f"layers.{i}.{name}": values for i in range(3) for name, values in (("cos", COS), ("sin", SIN))}
    first, second = _read_rotary_dump(save(tmp_path / "port.npz", arrays), None, "")
    assert (first.tensor, second.tensor) == ("layers.0.cos", "layers.0.sin")
    assert first.notes == ("layers.0.cos is read, the first of 3 arrays of such a name",)


@pytest.mark.parametrize(
    ("arrays", "tensor", "words"),
    [
        ({"a": LADDER, "b": LADDER}, None, ["a", "b"]),
        ({"a": LADDER, "b": LADDER}, "c", ["no tensor c", "a (8)"]),
        ({"cos": COS, "w": OTHER}, None, ["cos", "w"]),
    ],
)
@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_nothing_is_guessed(tmp_path, arrays, tensor, words, suffix):
    path = save(tmp_path / f"port{suffix}", arrays)
    with pytest.raises(FileError) as caught:
        _read_rotary_dump(path, tensor, "B")
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith("(B)")
    for word in words:
        assert word in message


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".npy"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_damaged_files(tmp_path, suffix, share):
    path = tmp_path / f"port{suffix}"
    if suffix == ".npy":
        np.save(path, LADDER)
    else:
        save(path, {"inv_freq": LADDER})
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileError, match=r"port\."):
        _read_rotary_dump(path, None, "")


# ----------------------------------------------------------------------------------- complex numbers


WAVES = (COS + 1j * SIN).astype(np.complex64)


def save_complex(path, values):
    if path.suffix == ".npz":
        np.savez(path, freqs_cis=values, w=OTHER)
    else:
        np.save(path, values)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<c8", ">c8", "<c16", ">c16"])
def test_complex_numbers(tmp_path, suffix, order, dtype):
    """As the buffer freqs_cis of Meta's code is; also byte-swapped, and with columns first."""
    path = save_complex(tmp_path / f"port{suffix}", np.array(WAVES, dtype=dtype, order=order))
    found, none = _read_rotary_dump(path, None, "")
    assert none is None
    assert found.dtype == f"complex{8 * int(dtype[2:])}"
    assert (found.values.dtype, found.values.flags.writeable) == (np.float64, False)
    np.testing.assert_array_equal(found.values, np.stack([WAVES.real, WAVES.imag], axis=-1))
    dump = read_side(str(path)).dump
    assert (dump.kind, dump.rows, dump.rotary_dim, dump.dtype) == ("cache", 32, 16, "float32")
    assert dump.base == pytest.approx(1e4, rel=1e-6)


@pytest.mark.parametrize(
    ("shape", "read"),
    [
        ((32, 1, 8), (32, 8, 2)),
        ((1, 32, 8), (32, 8, 2)),
        ((1, 32, 1, 8), (32, 8, 2)),
        ((256,), (256, 2)),
        ((256, 1), (256, 2)),
        ((1, 256, 1), (256, 2)),
        ((1, 256), (1, 256, 2)),
    ],
)
def test_axes_of_complex_numbers(tmp_path, shape, read):
    values = WAVES.reshape(shape)
    found, _ = _read_rotary_dump(save_complex(tmp_path / "port.npy", values), None, "")
    assert found.values.shape == read
    np.testing.assert_array_equal(found.values.ravel().view(complex), WAVES.ravel())


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_complex_numbers_are_refused_elsewhere(tmp_path, suffix):
    path = tmp_path / f"port{suffix}"
    np.save(path, WAVES) if suffix == ".npy" else np.savez(path, WAVES)
    with pytest.raises(FileError, match=r"holds complex numbers \(<c8\); float16, bfloat16"):
        read_array(path)
    if suffix == ".npz":  # nor are they one of several that fit
        assert read_array(save_complex(path, WAVES)).tensor == "w"


def damage(content, how):
    """Bytes of a .npy file of complex numbers, with what is wrong."""
    if how == "cut":
        return content[:-3]
    if how == "longer":
        return content + b"\0" * 8
    if how == "not finite":
        return content[:-4] + b"\0\0\xc0\x7f"
    if how == "too many":
        return content.replace(b"(32, 8)", b"(33554433, 2)").replace(b" " * 6 + b"\n", b"\n")
    return content.replace(b"<c8", b"<c4" if how == "no such type" else b"c32")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut", "is cut off: its header claims 2048 bytes of data, it has 2045"),
        ("longer", "has 8 bytes behind its data"),
        ("not finite", "entry 31, 7, 1 is nan"),
        ("too many", "has too many numbers"),
        ("no such type", "holds complex numbers (<c4)"),
        ("wide", "holds complex numbers (c32)"),
    ],
)
def test_damaged_complex_numbers(tmp_path, how, words):
    path = save_complex(tmp_path / "port.npy", WAVES)
    path.write_bytes(damage(path.read_bytes(), how))
    with pytest.raises(FileError) as caught:
        _read_rotary_dump(path, None, "")
    assert words in str(caught.value)


def test_parts_count_as_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("pe_spectra.files.arrays.MAX_HELD_ENTRIES", 2 * WAVES.size - 1)
    with pytest.raises(FileError, match=r"has too many numbers"):
        _read_rotary_dump(save_complex(tmp_path / "port.npy", WAVES), None, "")


# ----------------------------------------------------------------------------------- sides


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (LADDER, "frequencies"),
        (LADDER[None], "frequencies"),
        (LADDER[:, None], "frequencies"),
        (np.tile(LADDER, 2), "frequencies"),
        (np.hstack([COS, SIN]), "cache"),
        (np.stack([COS, SIN], axis=-1), "cache"),
        (LADDER[None, None], "frequencies"),
        (np.hstack([COS, SIN])[None], "cache"),
        (np.hstack([COS, SIN])[:, None], "cache"),
    ],
    ids=["list", "row", "column", "twice", "beside", "stacked", "row of three", "batch", "axis inside"],
)
def test_what_an_array_shows(tmp_path, values, kind):
    np.save(tmp_path / "port.npy", values)
    side = read_side(str(tmp_path / "port.npy"))
    assert side.dump.kind == kind
    # rows and columns are a table too, where the other side is one
    assert (side.table is not None) == (kind == "cache" and values.shape[-1] > 2)
    assert side.dump.base == pytest.approx(1e4, rel=1e-6)
    assert side.dump.rows == (32 if kind == "cache" else None)


@pytest.mark.parametrize("shape", [(9, 4), (1, 9, 4), (9, 1, 4)])
def test_a_table_of_positions_says_why_it_is_no_rotation(tmp_path, shape):
    values = np.random.Generator(np.random.PCG64(0)).normal(size=(9, 4))
    np.save(tmp_path / "table.npy", values.reshape(shape))
    side = read_side(str(tmp_path / "table.npy"))
    assert side.dump is None
    assert "do not lie on one circle" in side.reason
    np.testing.assert_array_equal(side.table, values)


def test_cosines_that_do_not_fit_sines(tmp_path):
    path = save(tmp_path / "port.npz", {"cos": COS, "sin": SIN[:5]})
    with pytest.raises(FileError, match=r"cosines and sines do not fit"):
        read_side(str(path))
