"""Dumps of ports: which array of a file is read as frequencies, or which two as cosines and sines."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.errors import FileError
from pe_spectra.files.rotary_dump import read_rotary_dump
from pe_spectra.model_sources import read_side

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
    found = read_rotary_dump(save(tmp_path / f"port{suffix}", arrays), tensor)
    read = [one for one in found if one is not None]
    assert tuple(one.tensor for one in read) == names
    for one in read:
        np.testing.assert_array_equal(one.values, arrays[one.tensor])


def test_the_first_of_several_is_read_and_said(tmp_path):
    arrays = {f"layers.{i}.{name}": values for i in range(3) for name, values in (("cos", COS), ("sin", SIN))}
    first, second = read_rotary_dump(save(tmp_path / "port.npz", arrays))
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
        read_rotary_dump(path, tensor, "B")
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
        read_rotary_dump(path)


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
    ],
    ids=["list", "row", "column", "twice", "beside", "stacked"],
)
def test_what_an_array_shows(tmp_path, values, kind):
    np.save(tmp_path / "port.npy", values)
    side = read_side(str(tmp_path / "port.npy"))
    assert side.dump.kind == kind
    assert side.table is None
    assert side.dump.base == pytest.approx(1e4, rel=1e-6)
    assert side.dump.rows == (32 if kind == "cache" else None)


def test_a_table_of_positions_says_why_it_is_no_rotation(tmp_path):
    values = np.random.Generator(np.random.PCG64(0)).normal(size=(9, 4))
    np.save(tmp_path / "table.npy", values)
    side = read_side(str(tmp_path / "table.npy"))
    assert side.dump is None
    assert "do not lie on one circle" in side.reason
    np.testing.assert_array_equal(side.table, values)


def test_cosines_that_do_not_fit_sines(tmp_path):
    path = save(tmp_path / "port.npz", {"cos": COS, "sin": SIN[:5]})
    with pytest.raises(FileError, match=r"cosines and sines do not fit"):
        read_side(str(path))
