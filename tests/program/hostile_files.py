"""Files whose names, keys and values try to steer a terminal, forge a row, run a formula or draw mathematics."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

#: What a name may hold, by what it tries. 5;45 is a colour that this program never asks for.
CONTENTS = {
    "colour": "\x1b[5;45mred\x1b[0m",
    "title": "\x1b]0;title\x07",
    "erased line": "x\r\x1b[2Kok",
    "C0": "".join(map(chr, range(1, 32))),
    "DEL and C1": "".join(map(chr, range(0x7F, 0xA0))),
    "row": "a\nb,1,2\r\nc",
    "tab": "a\tb",
    "separators": "a\u2028b\u2029c",
    "overrides": "a\u202a\u202b\u202c\u202d\u202enpy.b",
    "isolates": "a\u2066\u2067\u2068\u2069b",
    "marks": "a\u200e\u200f\u061cb",
    "zero width": "a\u200b\u200c\u200d\u2060\ufeffb",
    "surrogate": "a\udcffb\udc80",
    "markup": "[/red][bold]x[link=http://a.b]c[/link][@click=q]",
    "emoji": ":smile: :warning:",
    "equals": "=1+1",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(A1)",
    "tab formula": "\t=1+1",
    "return formula": "\r=1+1",
    "quotes": "a\"b'c,d;e",
    "mathematics": r"$\frac{1}{2}$ \alpha_{x}^2 $",
    "half mathematics": r"\$x$",
    "backslash": r"a\nb\x1b[31m\\",
    "XML": "<b>&amp;]]>--><!--",
    "format": "{0} %s %(a)s {x!r}",
    "shell": "$(touch made) `touch made`; touch made",
    "blank": " ",
    "empty": "",
    "long": "n" * 10_000,
    "long hostile": "\x1b[5;45m\u202e" * 2_000,
}
#: Much of it in one name, as short as that of a file.
ALL = "[/red]\x1b[5;45m\x9b31m\x07\n1,2\r\t\x7f\u2028\u202e\u2066\u200f$\\frac{1}{2}$:smile:<b>&\"'$(touch made)"
_SIZE = 12, 6


def draw_table() -> np.ndarray:
    return np.random.default_rng(3).standard_normal(_SIZE).astype("<f4")


def pack_tensors(*names: str) -> bytes:
    """A .safetensors file with the same table under each name."""
    data, header = draw_table().tobytes(), {}
    for number, name in enumerate(names):
        begin = number * len(data)
        header[name] = {"dtype": "F32", "shape": _SIZE, "data_offsets": [begin, begin + len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data * len(names)


def pack_member(name: str) -> bytes:
    """A .npz file with one member, whose name the library may not write."""
    np.savez("made.npz", a=draw_table())
    with zipfile.ZipFile("made.npz") as archive:
        data = archive.read("a.npy")
    os.remove("made.npz")
    path = Path("made.zip")
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("a.npy")
        info.filename = info.orig_filename = f"{name}.npy"
        archive.writestr(info, data)
    written = path.read_bytes()
    path.unlink()
    return written


def pack_gguf(**texts: str) -> bytes:
    """A .gguf file of a llama with other texts for some keys."""
    architecture = texts.get("general.architecture", "llama")
    keys: dict[str, str | int | float] = {"general.architecture": architecture, **texts}
    keys |= {f"{architecture}.context_length": 8192, f"{architecture}.embedding_length": 256}
    keys |= {f"{architecture}.attention.head_count": 4, f"{architecture}.rope.freq_base": 1e4}

    def text(word: str) -> bytes:
        data = word.encode("utf-8", "surrogateescape")
        return struct.pack("<Q", len(data)) + data

    parts = [b"GGUF", struct.pack("<IQQ", 3, 0, len(keys))]
    for key, value in keys.items():
        kind = {str: 8, int: 4, float: 6}[type(value)]
        packed = text(value) if isinstance(value, str) else struct.pack("<I" if kind == 4 else "<f", value)
        parts.append(text(key) + struct.pack("<I", kind) + packed)
    return b"".join(parts).ljust(8192, b"\0")


LLAMA = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "rope_theta": 10000.0,
    "max_position_embeddings": 2048,
}
_SCALING = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}


def _configure(**changes: object) -> bytes:
    return json.dumps({**LLAMA, **changes}).encode()


#: Keys and values of a configuration that a name may stand in, and the object that has it there.
CONFIGURATIONS: dict[str, Callable[[str], bytes]] = {
    "model_type": lambda name: _configure(model_type=name),
    "name": lambda name: _configure(_name_or_path=name),
    "architectures": lambda name: _configure(architectures=[name]),
    "key": lambda name: _configure(**{name: 1, f"rope_{name}": 2}),
    "rope_type": lambda name: _configure(rope_scaling={"rope_type": name, "factor": 2.0}),
    "scaling key": lambda name: _configure(
        rope_scaling={**_SCALING, "low_freq_factor": 1.0, "high_freq_factor": 4.0, name: 1.0}
    ),
    "scaling value": lambda name: _configure(rope_scaling={**_SCALING, "low_freq_factor": name}),
    "layer types": lambda name: _configure(layer_types=[name, "full_attention"]),
    "layer parameters": lambda name: _configure(
        model_type="gemma3_text",
        layer_types=[name, "full_attention"],
        rope_parameters={name: {"rope_type": "default", "rope_theta": 1e4}, "full_attention": {"rope_theta": 1e6}},
    ),
    "dtype": lambda name: _configure(torch_dtype=name, dtype=name),
    "theta": lambda name: _configure(rope_theta=name),
    "position_embedding_type": lambda name: _configure(model_type="bert", position_embedding_type=name),
    "text part": lambda name: json.dumps({"model_type": name, "text_config": {**LLAMA, "model_type": name}}).encode(),
}


def name_file(name: str, suffix: str) -> str | None:
    """Give the path of a file of this name, its folders made; None where no file can have it."""
    path = f"./{name}{suffix}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb"):
            return path
    except (OSError, ValueError):
        return None
