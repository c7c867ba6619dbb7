"""The files that random command lines may name: sound ones, damaged ones, and things that are no files."""

import io
import json
import os
import struct
import zipfile

import numpy as np

_TABLE = np.array([[(row * 7 + column * 5) % 11 / 8 for column in range(4)] for row in range(9)])
_LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "rope_theta": 10000.0,
}
_PARAMS = {"dim": 64, "n_heads": 4, "n_layers": 2, "rope_theta": 5e5}
#: What a terminal, a spreadsheet or markup would obey.
_EVIL = "\x1b]0;title\x07[/red]=1+1\u202e"


def _npy(values, **options):
    stream = io.BytesIO()
    np.save(stream, values, **options)
    return stream.getvalue()


def _npz(**members):
    stream = io.BytesIO()
    np.savez(stream, **members)
    return stream.getvalue()


def _zip(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _header(text):
    """A .npy file with this header and nothing behind it."""
    padded = text.encode("latin1") + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded


def _safetensors(*names, length=None):
    tensors, data = {}, b""
    for name in names:
        tensors[name] = {"dtype": "F32", "shape": [9, 4], "data_offsets": [len(data), len(data) + _TABLE.size * 4]}
        data += _TABLE.astype("<f4").tobytes()
    header = json.dumps(tensors).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def _gguf(**more):
    """The header of a GGUF file, of keys alone: texts, whole numbers and float32."""
    keys = {"general.architecture": "llama", "llama.context_length": 64, "llama.embedding_length": 64}
    keys |= {"llama.attention.head_count": 4, "llama.rope.freq_base": 10000.0, **more}
    body = b""
    for key, value in keys.items():
        kind = {str: 8, int: 4, float: 6}[type(value)]
        body += struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind)
        if kind == 8:
            body += struct.pack("<Q", len(value)) + value.encode()
        else:
            body += struct.pack("<I" if kind == 4 else "<f", value)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + body


def _csv(table):
    return "".join(",".join(repr(float(x)) for x in row) + "\n" for row in table).encode()


_GOOD_NPY = _npy(_TABLE)
_CONFIG = json.dumps(_LLAMA).encode()
_FREQUENCIES = 10000.0 ** (-np.arange(8) / 8)
_ANGLES = np.outer(np.arange(64), _FREQUENCIES)

#: Of a series: a load on each of ninety days.
READINGS = "\n".join(
    ["date,load"]
    + [
        f"{np.datetime64('2024-01-01') + np.timedelta64(day, 'D')},{load:.4f}"
        for day, load in enumerate(np.sin(np.arange(90)))
    ]
).encode()
SERIES = {"readings.csv": READINGS}
TABLES = {
    "table.npy": _GOOD_NPY,
    "half.npy": _npy(_TABLE.astype(">f2")),
    "one.npz": _npz(pe=_TABLE),
    "table.csv": _csv(_TABLE),
    "table.tsv": _csv(_TABLE).replace(b",", b"\t"),
    "one.safetensors": _safetensors("pe"),
    "\u00fcn\u00ef \u4e2d.npy": _GOOD_NPY,
    "=1+1.npy": _GOOD_NPY,
    "[red]x[/red].npy": _GOOD_NPY,
    "esc\x1b[31m\u202e.npy": _GOOD_NPY,
}
MODELS = {
    "config.json": _CONFIG,
    "params.json": json.dumps(_PARAMS).encode(),
    "model.gguf": _gguf(),
    "inv_freq.npy": _npy(_FREQUENCIES.astype(np.float32)),
    "cache.npz": _npz(cos=np.cos(_ANGLES), sin=np.sin(_ANGLES)),
    "model/config.json": _CONFIG,
    "hf/config.json": _CONFIG,
    "port/inv_freq.npy": _npy(_FREQUENCIES),
    "evil.json": json.dumps(_LLAMA | {_EVIL: 1, "_name_or_path": _EVIL}).encode(),
}
SETTINGS = {"settings.toml": b"full = true\n[spectrum]\nbandwidth = 2\n", "quiet.toml": b"quiet = true\n"}
PICTURES = {"old.svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>\n', "old.csv": b"0,1\n"}
DAMAGED = {
    "empty.npy": b"",
    "cut.npy": _GOOD_NPY[:-9],
    "more.npy": _GOOD_NPY + b"more",
    "magic.npy": b"\x93NUMPX" + _GOOD_NPY[6:],
    "huge.npy": _header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }"),
    "negative.npy": _header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 4), }"),
    "code.npy": _header("__import__('os').getpid()"),
    "parentheses.npy": _header("(" * 4000),
    "object.npy": _header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"\x80\x04]\x94.",
    "words.npy": _npy(np.array(["a", "b"])),
    "complex.npy": _npy(_TABLE * 1j),
    "line.npy": _npy(_TABLE[0]),
    "point.npy": _npy(np.float64(1)),
    "cube.npy": _npy(np.ones((2, 2, 2))),
    "none.npy": _npy(np.ones((0, 4))),
    "nan.npy": _npy(_TABLE + np.array([np.nan, 0, np.inf, 0])),
    "large.npy": _npy(_TABLE * 1e308),
    "same.npy": _npy(np.ones((5, 3))),
    "two.npz": _npz(a=_TABLE, b=_TABLE),
    "out.npz": _zip(**{"../../out.npy": _GOOD_NPY}),
    "text.npz": _zip(**{"read.txt": b"me"}),
    "notzip.npz": b"PK\x03\x04 not at all",
    "two.safetensors": _safetensors("a", "b"),
    "evil.safetensors": _safetensors(_EVIL, _EVIL * 2),
    "header.safetensors": _safetensors("pe", length=1 << 63),
    "cut.safetensors": _safetensors("pe")[:-1],
    "ragged.csv": b"1,2\n3\n",
    "words.csv": b"a,b\nc,d\n",
    "bytes.csv": bytes(range(256)),
    "cut.gguf": _gguf()[:-3],
    "version.gguf": b"GGUF" + struct.pack("<I", 1 << 31),
    "kind.gguf": _gguf(**{"llama.context_length": _EVIL}),
    "nan.json": b'{"model_type": "llama", "hidden_size": NaN}',
    "twice.json": b'{"model_type": "llama", "model_type": "gpt2"}',
    "deep.json": b"[" * 100_000,
    "digits.json": b'{"hidden_size": ' + b"9" * 5000 + b"}",
    "list.json": b"[1, 2]",
    "latin.json": b'{"model_type": "\xe9"}',
    "flat.toml": b"d = \n",
    "unknown.toml": b"rhoo = 1\n",
    "type.toml": b'd = "256"\n',
    "nan.toml": b"rho = nan\n",
    "deep.toml": b"d = " + b"[" * 100_000,
    "keys.toml": ('"' + _EVIL.replace("\x1b", "\\u001b").replace("\x07", "\\u0007") + '" = 1\n').encode(),
    "pickled.pt": b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x94\x8c\x05print\x94\x93\x94)R.",
    "noending": _GOOD_NPY,
}
#: Links and folders, and what each leads to; None is a folder.
OTHERS = {"folder.npy": None, "loop.npy": "loop.npy", "nowhere.npy": "not-there.npy", "link.svg": "old.svg"}
#: Names of nothing, or of nothing that can be read.
ABSENT = ("missing.npy", "missing.json", "no/folder.npy", "table.npy/x.npy", "/dev/null", "x" * 300 + ".npy", "./", "~")

FILES = TABLES | SERIES | MODELS | SETTINGS | PICTURES | DAMAGED


def place_files(folder, argv):
    """Put every file that a command line mentions into the folder, and no other."""
    text = "\n".join(argv)
    for name, leads_to in OTHERS.items():
        if name in text:
            if leads_to is None:
                (folder / name).mkdir()
            else:
                os.symlink(leads_to, folder / name)
                text += "\n" + leads_to
    for name, data in FILES.items():
        if name in text:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
