"""GGUF files written by hand, and by the format's own library."""

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.files.gguf_file import read_gguf
from pe_spectra.models.stacks.llama_cpp import turn_gguf_layer
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from tests.refusing import catch

gguf = pytest.importorskip("gguf")


def read_gguf_rotation(keys, factors, path, served=None):
    """The rotation in each type of layer of a GGUF file."""
    stated = read_gguf_configuration(keys, factors, path)
    return tuple(turn_gguf_layer(stated, layer, served) for layer in stated.layers)


def make_llama(**changes):
    """The keys of Llama-3.1-8B."""
    keys = {
        "general.architecture": "llama",
        "llama.context_length": 131072,
        "llama.embedding_length": 4096,
        "llama.attention.head_count": 32,
        "llama.rope.dimension_count": 128,
        "llama.rope.freq_base": 500000.0,
    }
    return {key: value for key, value in {**keys, **changes}.items() if value is not None}


def compute_llama3_divisors(factor=8.0, base=500000.0, width=128, original=8192, low=1.0, high=4.0):
    """The divisors as the converter computes them: float32 throughout, naive."""
    divisors = []
    for i in range(width // 2):
        frequency = np.float32(1) / np.float32(base) ** np.float32(2 * i / width)
        wavelength = np.float32(2 * math.pi) / frequency
        if wavelength < original / high:
            divisors.append(1.0)
        elif wavelength > original / low:
            divisors.append(factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            divisors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(divisors, dtype=np.float32)


def write_model(path, *, tensors=(), tokens=0, arch="llama", base=500000.0):
    """Write a small model with the format's own library."""
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(131072)
    writer.add_embedding_length(4096)
    writer.add_head_count(32)
    writer.add_rope_dimension_count(128)
    writer.add_rope_freq_base(base)
    writer.add_bool(f"{arch}.truth", True)
    writer.add_array(f"{arch}.attention.pattern", [1, 2, 3])
    writer.add_chat_template("x" * 10000)
    if tokens:
        writer.add_token_list([f"word {i}" for i in range(tokens)])
        writer.add_token_scores([0.5] * tokens)
        writer.add_token_merges([f"a{i} b{i}" for i in range(tokens)])
    for name, values in tensors:
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(path)


def text(value):
    return struct.pack("<Q", len(value)) + value


def key(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


def tensor(name, shape=(2,), kind=0, offset=0):
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def make_words(count):
    """A key whose value is a list of texts, named by its length."""
    return key(b"words %d" % count, 9, struct.pack("<IQ", 8, count) + text(b"") * count)


def build(keys=(), tensors=(), *, version=3, data=b"", magic=b"GGUF", counts=None):
    """The bytes of a file, written by hand."""
    counts = counts or (len(tensors), len(keys))
    head = magic + struct.pack("<IQQ", version, *counts) + b"".join(keys) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + data


def refuse(tmp_path, data):
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    return catch(read_gguf, path, "CONFIG", kind=FileError, after="(CONFIG)")


# ----------------------------------------------------------------------------------- statements


def read(keys, tensors=None, shapes=None):
    return read_gguf_configuration(keys, tensors or {}, "m.gguf", shapes)


def complain(keys, tensors=None):
    with pytest.raises(FileError) as caught:
        read_gguf_rotation(keys, tensors or {}, "m.gguf")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def make_gguf(architecture="llama", **changes):
    """The keys of a GGUF file with heads of 128 channels."""
    keys = {
        "context_length": 131072,
        "embedding_length": 4096,
        "attention.head_count": 32,
        "rope.dimension_count": 128,
        "rope.freq_base": 500000.0,
        **changes,
    }
    return {"general.architecture": architecture, **{f"{architecture}.{name}": value for name, value in keys.items()}}
