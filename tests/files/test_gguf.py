"""GGUF files: what is read of their headers, and what damage is refused."""

import math
import os
import random
import struct

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.files import gguf_file
from pe_spectra.files.arrays import Wanted
from pe_spectra.files.gguf_file import GgufTensors, read_gguf
from pe_spectra.files.reading import RegularFile, open_regular
from tests.files.gguf import (
    build,
    compute_llama3_divisors,
    key,
    make_words,
    read_gguf_rotation,
    refuse,
    tensor,
    text,
    write_model,
)
from tests.pace import call_within

# ----------------------------------------------------------------------------------- files


def test_reads_what_the_library_writes(tmp_path):
    divisors = compute_llama3_divisors()
    model = write_model(tmp_path / "m.gguf", tensors=[("rope_freqs.weight", divisors)], tokens=5000)
    found = read_gguf(model)
    assert found.keys["general.architecture"] == "llama"
    assert found.keys["llama.rope.freq_base"] == 500000.0
    assert found.keys["llama.truth"] is True
    assert found.keys["llama.attention.pattern"] == [1, 2, 3]
    assert not [name for name in found.keys if name.startswith("tokenizer.")]
    assert np.array_equal(found.factors["rope_freqs.weight"], divisors)
    assert found.shapes == {"rope_freqs.weight": (64,)}


@pytest.mark.parametrize("kind", ["float16", "float32", "bfloat16"])
def test_reads_tensors_of_every_float_type(tmp_path, kind):
    values = np.array([1.0, 2.5, 8.0], dtype=np.float32)
    if kind == "bfloat16":
        data = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
    else:
        data = values.astype(kind).tobytes()
    number = {"float32": 0, "float16": 1, "bfloat16": 30}[kind]
    path = tmp_path / "m.gguf"
    path.write_bytes(build(tensors=[tensor(b"rope_freqs.weight", (3,), number)], data=data))
    assert read_gguf(path).factors["rope_freqs.weight"] == (1.0, 2.5, 8.0)


def test_reads_a_table_of_positions(tmp_path):
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    path = write_model(tmp_path / "m.gguf", tensors=[("position_embd.weight", table)], arch="gpt2")
    assert read_gguf(path).shapes == {"position_embd.weight": (4, 3)}
    with open_regular(path, label="") as file:
        found = GgufTensors(file).take(Wanted())
    assert np.array_equal(found.values, table)
    assert found.tensor == "position_embd.weight"
    with (
        pytest.raises(FileError, match="has no tensor other that is read here"),
        open_regular(path, label="") as file,
    ):
        GgufTensors(file).take(Wanted(tensor="other"))


def test_reads_the_beginning_of_a_file(tmp_path):
    """Weights are not needed: what was fetched of a large file up to the small tensors will do."""
    tensors = [("rope_freqs.weight", compute_llama3_divisors()), ("big", np.zeros((256, 256), np.float32))]
    path = write_model(tmp_path / "m.gguf", tensors=tensors)
    whole = path.read_bytes()
    path.write_bytes(whole[:-200_000])
    assert len(read_gguf(path).factors["rope_freqs.weight"]) == 64


def test_a_large_vocabulary_takes_neither_long_nor_memory(tmp_path):
    path = write_model(tmp_path / "m.gguf", tokens=100_000)
    call_within(2, lambda: read_gguf(path))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "has 0 bytes; a .gguf file has more"),
        (b"GGUF" + b"\0" * 10, "has 14 bytes"),
        (build(magic=b"FUGG"), "does not begin with GGUF"),
        (build(version=1), "version 1 of the format; versions 2 and 3"),
        (build(version=3 << 24), "big-endian"),
        (build(counts=(1 << 40, 0)), "describes 1099511627776 tensors"),
        (build(counts=(0, 1 << 62)), "keys; at most 4096"),
        (build(counts=(0, 1)), "is cut off"),
        (build([key(b"a", 4, b"\0" * 4), key(b"a", 4, b"\0" * 4)]), "gives the key a twice"),
        (build([key(b"\xff", 4, b"\0" * 4)]), "name is not UTF-8"),
        (build([struct.pack("<Q", 1 << 60)]), "whose name has 1152921504606846976 bytes"),
        (build([key(b"a", 99, b"")]), "key a is of type 99"),
        (build([key(b"a", 7, b"\2")]), "key a is neither true nor false (2)"),
        (build([key(b"a", 9, struct.pack("<IQ", 9, 1))]), "key a is a list of lists"),
        (build([key(b"a", 9, struct.pack("<IQ", 77, 1))]), "key a is a list of type 77"),
        (build([key(b"a", 9, struct.pack("<IQ", 4, 1 << 60))]), "is cut off inside its header"),
        (build([key(b"a", 9, struct.pack("<IQ", 8, 1 << 60))]), "words in its header; at most 2097152"),
        (build([key(b"a", 8, struct.pack("<Q", 1 << 63))]), "is cut off inside its header"),
        (build([key(b"a", 9, struct.pack("<IQ", 8, 2) + struct.pack("<Q", 1 << 63))]), "is cut off inside its header"),
        (build(tensors=[tensor(b"a"), tensor(b"a")]), "gives the tensor a twice"),
        (build(tensors=[tensor(b"a", (1,) * 5)]), "tensor a has 5 axes"),
        (build(tensors=[tensor(b"rope_freqs.weight", (64,), 8)]), "rope_freqs.weight is of type Q8_0; F32, F16"),
        (build(tensors=[tensor(b"rope_freqs.weight", (64,), 1234)]), "is of type number 1234"),
        (build(tensors=[tensor(b"rope_freqs.weight", (64,))]), "is cut off: tensor rope_freqs.weight ends at byte"),
        (build(tensors=[tensor(b"rope_freqs.weight", (64,), 0, 1 << 63)]), "is cut off"),
        (build(tensors=[tensor(b"rope_freqs.weight", (1 << 62, 1 << 62))]), "has too many numbers"),
        (build(tensors=[tensor(b"rope_freqs.weight", (0,))]), "is empty"),
        (build(tensors=[tensor(b"rope_freqs.weight", (2, 2))], data=b"\0" * 16), "has 2 axes"),
        (build(tensors=[tensor(b"rope_freqs.weight")], data=struct.pack("<2f", 1, math.nan)), "entry 1 is nan"),
        (build([key(b"general.alignment", 4, struct.pack("<I", 3))]), "general.alignment cannot be used (3)"),
        (build([key(b"general.alignment", 8, text(b"8"))]), "general.alignment cannot be used ('8')"),
    ],
)
def test_refuses_damage_in_one_line(tmp_path, data, words):
    assert words in refuse(tmp_path, data)


@pytest.mark.parametrize("beyond", [0, 1])
@pytest.mark.parametrize("name", [b"a", b"tokenizer.a"])
def test_lists_and_texts_are_kept_up_to_their_limits(tmp_path, name, beyond):
    long = 4096 + beyond
    keys = [
        key(name + b"8", 9, struct.pack("<IQ", 0, long) + bytes(long)),
        key(name + b"16", 9, struct.pack("<IQ", 2, long) + struct.pack(f"<{long}H", *range(long))),
        key(name + b"text", 8, text(b"x" * long)),
        key(b"last", 4, struct.pack("<I", 7)),
    ]
    path = tmp_path / "m.gguf"
    path.write_bytes(build(keys))
    kept = {"a8": [0] * 4096, "a16": list(range(4096)), "atext": "x" * 4096}
    assert read_gguf(path).keys == {**(kept if name == b"a" and not beyond else {}), "last": 7}


@pytest.mark.parametrize(
    ("make", "most", "words"),
    [
        (lambda n: build([key(b"a" * n, 4, bytes(4))]), 1024, "a key whose name has 1025 bytes; at most 1024"),
        (lambda n: build(tensors=[tensor(b"a" * n)]), 1024, "a tensor whose name has 1025 bytes; at most 1024"),
        (lambda n: build([key(b"%d" % i, 0, b"0") for i in range(n)]), 4096, "has 4097 keys; at most 4096"),
        (lambda n: build(tensors=[tensor(b"a", (1,) * n)]), 4, "tensor a has 5 axes; at most 4"),
        (lambda n: build([make_words(n - 4), make_words(4)]), 16, "lists of 17 words in its header; at most 16"),
    ],
)
def test_what_is_at_a_limit_is_read(tmp_path, monkeypatch, make, most, words):
    monkeypatch.setattr(gguf_file, "MAX_GGUF_WORDS", 16)
    path = tmp_path / "m.gguf"
    path.write_bytes(make(most))
    read_gguf(path)
    assert words in refuse(tmp_path, make(most + 1))


def test_refuses_a_header_beyond_its_limit(tmp_path):
    """A sparse file may claim any length."""
    path = tmp_path / "m.gguf"
    path.write_bytes(build([key(b"a", 9, struct.pack("<IQ", 0, 1 << 31))]))
    os.truncate(path, 1 << 32)
    with pytest.raises(FileError, match="header of more than 134217728 bytes"):
        read_gguf(path)


def test_refuses_a_header_that_goes_beyond_its_limit_step_by_step(tmp_path, monkeypatch):
    """Nothing in it is long enough to be stepped over: every piece that is read is counted."""
    data = build([key(b"%02d" % n, 4, bytes(4)) for n in range(20)])
    monkeypatch.setattr(gguf_file, "_CHUNK", 16)
    monkeypatch.setattr(gguf_file, "MAX_GGUF_HEADER_BYTES", 24 + 20 * 18)
    (tmp_path / "m.gguf").write_bytes(data)
    assert len(read_gguf(tmp_path / "m.gguf").keys) == 20
    monkeypatch.setattr(gguf_file, "MAX_GGUF_HEADER_BYTES", 24 + 20 * 18 - 1)
    assert "has a header of more than 383 bytes" in refuse(tmp_path, data)


def read_damaged(path):
    """Read a file all the way to the rotation; give the message of its refusal, empty where there is none."""
    try:
        found = read_gguf(path)
        read_gguf_rotation(found.keys, found.factors, "damaged.gguf")
    except FileError as error:
        return str(error)
    return ""


@pytest.mark.slow
def test_damaged_files_raise_one_error_and_fast(tmp_path):
    """2,000 seeds: bytes changed, removed, inserted; sizes of all magnitudes."""
    tensors = [("rope_freqs.weight", compute_llama3_divisors()), ("a", np.zeros(8, np.float32))]
    whole = write_model(tmp_path / "m.gguf", tensors=tensors, tokens=20).read_bytes()
    path = tmp_path / "damaged.gguf"
    refused = 0
    for seed in range(2000):
        chance = random.Random(seed)
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 5)):
            place = chance.choice(
                (chance.randrange(600), chance.randrange(len(data)), len(data) - chance.randrange(1200))
            )
            place = max(0, min(place, len(data) - 8))
            change = chance.randrange(4)
            if change == 0:
                data[place] = chance.randrange(256)
            elif change == 1:
                data[place : place + 8] = struct.pack(
                    "<Q", chance.choice((0, 1, 255, 1 << 20, 1 << 32, 1 << 63, (1 << 64) - 1))
                )
            elif change == 2:
                del data[place:]
            else:
                data[place:place] = chance.randbytes(chance.randrange(1, 9))
            data = data or bytearray(8)
        path.write_bytes(data)
        message = call_within(1, lambda: read_damaged(path))
        refused += bool(message)
        assert len(message) < 600, seed
    assert refused > 500


# ----------------------------------------------------------------------------------- files that change or vanish


def test_a_gguf_file_that_is_cut_off_while_it_is_read(empty_folder, monkeypatch):
    name = b"general.architecture"
    header = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", len(name)) + name
    (empty_folder / "m.gguf").write_bytes(header + struct.pack("<IQ", 8, 5) + b"llama")
    assert read_gguf("m.gguf").keys == {"general.architecture": "llama"}
    whole = RegularFile.read_at
    # the size was looked up before: what comes is less
    monkeypatch.setattr(
        RegularFile, "read_at", lambda self, start, count: whole(self, start, count)[: max(0, 40 - start)]
    )
    with pytest.raises(FileError, match=r"m\.gguf: is cut off inside its header"):
        read_gguf("m.gguf")
