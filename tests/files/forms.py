"""One table in every form, damaged headers, and what is said of a file that is refused."""

import io
import json
import struct
import warnings
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

from pe_spectra.errors import FileError, PeSpectraError
from pe_spectra.files.tables import read_array
from tests.refusing import catch

#: Numbers that float16 and bfloat16 hold exactly.
TABLE = (np.arange(35).reshape(7, 5) - 17) / 8.0


def refuse(path, tensor=None, **options):
    """Give what is said about a file that is refused, without its name."""
    said = catch(read_array, Path(path), tensor, label="--encoding", **options, kind=FileError, after="(--encoding)")
    return said.partition(": ")[2]


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def pack(header, data=b"", *, length=None):
    """Bytes of a .safetensors file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def npy_bytes(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False, **options)
    return file.getvalue()


def npy_header(text, version=(1, 0), data=b""):
    header = text.encode("latin-1")
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", len(header)) + header + data


# ----------------------------------------------------------------------------------- the same numbers from each


def write_forms(folder):
    """Write one table in every form; give (path, tensor, stored type) of each."""
    small = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
    forms = [(folder / "t.csv", None, "text"), (folder / "t.tsv", None, "text")]
    np.savetxt(folder / "t.csv", TABLE, delimiter=",")
    np.savetxt(folder / "t.tsv", TABLE, delimiter="\t")
    for name, kind in small.items():
        if name != "bfloat16":
            np.save(folder / f"{name}.npy", TABLE.astype(kind))
            np.savez(folder / f"{name}.npz", pos_embed=TABLE.astype(kind), other=np.ones((3, 3)))
            np.savez_compressed(folder / f"{name}-compressed.npz", pe=TABLE.astype(kind))
            forms += [(folder / f"{name}.npy", None, name), (folder / f"{name}.npz", "pos_embed", name)]
            forms += [(folder / f"{name}-compressed.npz", "pe", name)]
        tensors = {"b.bias": np.ones(4, np.float32), "wte.weight": np.ones((9, 5), np.float32)}
        save_file({**tensors, "h.wpe.weight": TABLE.astype(kind)}, folder / f"{name}.safetensors")
        forms.append((folder / f"{name}.safetensors", "h.wpe.weight", name))
    model = folder / "model"
    write_shards(model, {"wte.weight": np.ones((9, 5), np.float32)}, {"wpe.weight": TABLE.astype(np.float32)})
    forms += [(model, "wpe.weight", "float32"), (model / "model.safetensors.index.json", "wpe.weight", "float32")]
    whole = folder / "whole"
    whole.mkdir()
    save_file({"a.weight": np.ones((2, 2)), "vit.pos_embed": TABLE[None]}, whole / "model.safetensors")
    write(whole / "config.json", '{"model_type": "vit"}')
    return [*forms, (whole, "vit.pos_embed", "float64")]


def write_shards(folder, *shards):
    folder.mkdir()
    places = {}
    for number, tensors in enumerate(shards, start=1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file(tensors, folder / name)
        places |= dict.fromkeys(tensors, name)
    index = {"metadata": {"total_size": 1}, "weight_map": places}
    write(folder / "model.safetensors.index.json", json.dumps(index))
    return index


# ----------------------------------------------------------------------------------- which tensor


def save(folder, *names, shape=(3, 2)):
    path = folder / "t.safetensors"
    save_file({name: np.full(shape, number, np.float32) for number, name in enumerate(names)}, path)
    return path


# ----------------------------------------------------------------------------------- .npy


HEAD = "'descr': '<f8', 'fortran_order': False, 'shape': "


# ----------------------------------------------------------------------------------- .npz


def zip_members(path, members, method=zipfile.ZIP_DEFLATED, **options):
    with zipfile.ZipFile(path, "w", method, **options) as archive:
        for name, data in members:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a name that is given twice
                archive.writestr(name, data)
    return path


# ----------------------------------------------------------------------------------- damage


def read_or_refuse(path):
    """Give the table of a file, or our error about it."""
    try:
        return read_array(path, "pe" if path.suffix == ".npz" else None, label="-e")
    except PeSpectraError as error:
        return error
