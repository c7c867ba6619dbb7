"""GGUF files: what is read of their headers, what damage is refused, and the rotation that they give."""

import math
import os
import random
import struct
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3, scale_yarn
from pe_spectra.errors import FileError
from pe_spectra.files import gguf_header
from pe_spectra.files.arrays import Wanted
from pe_spectra.files.gguf_file import read_gguf, read_gguf_table
from pe_spectra.files.reading import open_regular
from pe_spectra.models.stacks.gguf import turn_gguf_layer
from pe_spectra.models.stated import gguf_architectures as architectures
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from tests.pace import call_within

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
    with pytest.raises(FileError) as caught:
        read_gguf(path, "CONFIG")
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith("(CONFIG)")
    return message


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
        found = read_gguf_table(file, Wanted(tensor=None, axes=(2,), pick=True))
    assert np.array_equal(found.values, table)
    assert found.tensor == "position_embd.weight"
    with (
        pytest.raises(FileError, match="has no tensor other that is read here"),
        open_regular(path, label="") as file,
    ):
        read_gguf_table(file, Wanted(tensor="other", axes=(2,), pick=True))


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
    monkeypatch.setattr(gguf_header, "MAX_GGUF_WORDS", 16)
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
    monkeypatch.setattr(gguf_header, "_CHUNK", 16)
    monkeypatch.setattr(gguf_header, "MAX_GGUF_HEADER_BYTES", 24 + 20 * 18)
    (tmp_path / "m.gguf").write_bytes(data)
    assert len(read_gguf(tmp_path / "m.gguf").keys) == 20
    monkeypatch.setattr(gguf_header, "MAX_GGUF_HEADER_BYTES", 24 + 20 * 18 - 1)
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


# ----------------------------------------------------------------------------------- statements


def read(keys, tensors=None, shapes=None):
    return read_gguf_configuration(keys, tensors or {}, "m.gguf", shapes)


def complain(keys, tensors=None):
    with pytest.raises(FileError) as caught:
        read_gguf_rotation(keys, tensors or {}, "m.gguf")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_llama_turns_neighbours_and_others_halves():
    assert read(make_llama()).layers[0].layout == "interleaved"
    keys = {"general.architecture": "qwen2", "qwen2.embedding_length": 896, "qwen2.attention.head_count": 14}
    found = read(keys)
    assert (found.layers[0].layout, found.layers[0].head_dim, found.layers[0].older.base) == ("half", 64, None)
    assert (found.format, found.model, found.scheme, found.length) == ("gguf", "qwen2", "rotary", None)


def test_lists_of_architectures_do_not_overlap():
    kinds = [getattr(architectures, name) for name in ("INTERLEAVED", "HALF", "ALIBI", "LEARNED", "T5", "NONE")]
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
    written = set(gguf.constants.MODEL_ARCH_NAMES.values()) - {"clip", "gptj"}
    assert written <= frozenset().union(*kinds)
    for part in (architectures.LOCAL_10000, architectures.LOCAL_UNSCALED, architectures.UNTURNED_FULL):
        assert part <= architectures.SLIDING


@pytest.mark.parametrize(("factor", "high"), [(8.0, 4.0), (32.0, 4.0), (16.0, 1.0)])
def test_knows_llama3_in_the_tensor(factor, high):
    divisors = tuple(map(float, compute_llama3_divisors(factor, high=high)))
    found = read(make_llama(), {"rope_freqs.weight": divisors})
    block = found.layers[0].older
    assert block.kind == "llama3"
    assert block.values["factor"] == factor
    assert block.values["original_max_position_embeddings"] == 8192
    assert block.values["divisors"] == divisors
    assert [(one.level, one.code) for one in found.findings] == [("note", "scaling-in-tensor")]
    (rotation,) = read_gguf_rotation(make_llama(), {"rope_freqs.weight": divisors}, "m.gguf")
    expected = scale_llama3(500000.0, 128, factor=factor, original=8192, high_freq_factor=high).frequencies
    assert np.allclose(rotation.frequencies, [float(theta) for theta in expected], rtol=2e-6, atol=0)
    assert (rotation.scaling, rotation.layout, rotation.rotary_dim) == ("llama3", "interleaved", 128)
    assert rotation.error_bound == 2e-6


def test_divides_by_the_tensor_exactly():
    """Each frequency is base**(-2i/D) over the number in the file."""
    divisors = tuple(1.0 + i / 8 for i in range(64))
    found = read(make_llama(), {"rope_freqs.weight": divisors})
    assert found.layers[0].older.kind == "longrope"
    assert found.layers[0].older.values["short_factor"] == divisors
    assert "no known scaling" in found.findings[0].message
    rotation = turn_gguf_layer(found, found.layers[0])
    expected = [500000.0 ** (-2 * i / 128) / divisors[i] for i in range(64)]
    assert np.allclose(rotation.frequencies, expected, rtol=1e-14, atol=0)
    assert rotation.attention_scaling == 1.0
    assert not rotation.frequencies.flags.writeable


def test_a_tensor_of_ones_is_no_scaling():
    found = read(make_llama(), {"rope_freqs.weight": (1.0,) * 64})
    assert (found.layers[0].older.kind, found.findings) == ("default", ())


def test_huge_divisors_keep_pairs_from_turning():
    """Gemma 4 turns a quarter of the pairs where it attends everywhere."""
    keys = {
        "general.architecture": "gemma4",
        "gemma4.embedding_length": 2560,
        "gemma4.attention.head_count": 8,
        "gemma4.attention.key_length": 512,
        "gemma4.attention.key_length_swa": 256,
        "gemma4.rope.dimension_count": 512,
        "gemma4.rope.dimension_count_swa": 256,
        "gemma4.rope.freq_base": 1e6,
        "gemma4.rope.freq_base_swa": 1e4,
        "gemma4.attention.sliding_window": 512,
    }
    divisors = (1.0,) * 64 + (1e30,) * 192
    full, sliding = read(keys, {"rope_freqs.weight": divisors}).layers
    assert (full.name, full.older.kind, full.share, full.window) == ("full_attention", "proportional", 0.25, None)
    assert (sliding.name, sliding.older.kind, sliding.head_dim, sliding.share) == (
        "sliding_attention",
        "default",
        256,
        1,
    )
    assert (sliding.older.base, sliding.window) == (1e4, 512)
    first, second = read_gguf_rotation(keys, {"rope_freqs.weight": divisors}, "m.gguf")
    assert np.allclose(first.frequencies[:64], 1e6 ** (-np.arange(64) / 256), rtol=1e-14)
    assert not first.frequencies[64:].any()
    assert len(second.frequencies) == 128


def test_gemma_3_slides_with_base_10000_and_unscaled():
    keys = {
        "general.architecture": "gemma3",
        "gemma3.embedding_length": 2560,
        "gemma3.attention.head_count": 8,
        "gemma3.attention.key_length": 256,
        "gemma3.attention.sliding_window": 1024,
        "gemma3.rope.freq_base": 1e6,
        "gemma3.rope.scaling.type": "linear",
        "gemma3.rope.scaling.factor": 8.0,
    }
    full, sliding = read_gguf_rotation(keys, {}, "m.gguf")
    assert (full.scaling, full.base, full.frequencies[0], full.options) == ("linear", 1e6, 0.125, {"factor": 8.0})
    assert (sliding.scaling, sliding.base, sliding.frequencies[0]) == ("none", 1e4, 1.0)
    assert len(read({**keys, "gemma3.attention.sliding_window": 0}).layers) == 1


def test_olmo_3_slides_unscaled_with_the_base_of_the_others():
    keys = {
        "general.architecture": "olmo2",
        "olmo2.embedding_length": 4096,
        "olmo2.attention.head_count": 32,
        "olmo2.context_length": 65536,
        "olmo2.attention.sliding_window": 4096,
        "olmo2.rope.freq_base": 500000.0,
        "olmo2.rope.scaling.type": "yarn",
        "olmo2.rope.scaling.factor": 8.0,
        "olmo2.rope.scaling.original_context_length": 8192,
    }
    full, sliding = read_gguf_rotation(keys, {}, "m.gguf")
    assert (full.scaling, sliding.scaling, sliding.base, sliding.attention_scaling) == ("yarn", "none", 500000.0, 1.0)
    expected = [float(theta) for theta in scale_yarn(500000.0, 128, factor=8, original=8192).frequencies]
    assert np.array_equal(full.frequencies, expected)
    assert full.attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)


def test_layers_that_are_not_turned():
    keys = {"general.architecture": "cohere2", "cohere2.embedding_length": 4096, "cohere2.attention.head_count": 32}
    keys |= {"cohere2.attention.sliding_window": 4096, "cohere2.rope.freq_base": 50000.0}
    still, sliding = read(keys).layers
    assert (still.name, still.turns, still.older) == ("nope", False, None)
    assert (sliding.name, sliding.turns, sliding.window, sliding.older.base) == ("sliding_attention", True, 4096, 5e4)
    assert [len(one.frequencies) for one in read_gguf_rotation(keys, {}, "m.gguf")] == [0, 64]
    keys = {"general.architecture": "smollm3", "smollm3.embedding_length": 2048, "smollm3.attention.head_count": 16}
    assert [layer.turns for layer in read(keys).layers] == [True, False]


def test_some_windows_are_no_key():
    keys = {"general.architecture": "gemma2", "gemma2.embedding_length": 2304, "gemma2.attention.head_count": 8}
    assert [layer.window for layer in read({**keys, "gemma2.attention.key_length": 256}).layers] == [None, 4096]
    keys = {"general.architecture": "llama4", "llama4.embedding_length": 5120, "llama4.attention.head_count": 40}
    assert [(one.name, one.window) for one in read(keys).layers] == [("nope", None), ("chunked_attention", 8192)]
    assert [one.name for one in read({**keys, "llama4.attention.sliding_window": 0}).layers] == ["all"]


def test_a_window_that_llama_cpp_does_not_use_is_none():
    assert read(make_llama(**{"llama.attention.sliding_window": 4096})).layers[0].window is None


def test_latent_attention_turns_a_part_of_its_own():
    keys = {
        "general.architecture": "deepseek2",
        "deepseek2.embedding_length": 2048,
        "deepseek2.attention.head_count": 16,
        "deepseek2.attention.key_length": 192,
        "deepseek2.attention.kv_lora_rank": 512,
        "deepseek2.context_length": 163840,
        "deepseek2.rope.dimension_count": 64,
        "deepseek2.rope.scaling.type": "yarn",
        "deepseek2.rope.scaling.factor": 40.0,
        "deepseek2.rope.scaling.original_context_length": 4096,
        "deepseek2.rope.scaling.yarn_log_multiplier": 0.0707,
    }
    layer = read(keys).layers[0]
    assert (layer.head_dim, layer.share, layer.layout) == (64, 1.0, "interleaved")
    assert (layer.older.values["mscale"], layer.older.values["mscale_all_dim"]) == (0.707, 0.707)
    (rotation,) = read_gguf_rotation(keys, {}, "m.gguf")
    assert rotation.attention_scaling == 1.0


def test_longrope_takes_its_list_by_the_context():
    keys = {
        "general.architecture": "phi3",
        "phi3.embedding_length": 32,
        "phi3.attention.head_count": 4,
        "phi3.context_length": 131072,
        "phi3.rope.dimension_count": 8,
        "phi3.rope.scaling.original_context_length": 4096,
        "phi3.rope.scaling.attn_factor": 1.19,
    }
    tensors = {"rope_factors_short.weight": (1.0, 1.5, 2.0, 2.5), "rope_factors_long.weight": (1.0, 4.0, 16.0, 64.0)}
    (rotation,) = read_gguf_rotation(keys, tensors, "m.gguf")
    assert (rotation.scaling, rotation.attention_scaling) == ("longrope", 1.19)
    assert np.allclose(rotation.frequencies, [1, 0.1 / 4, 0.01 / 16, 0.001 / 64], rtol=1e-14)
    (rotation,) = read_gguf_rotation(keys, tensors, "m.gguf", 4096)
    assert np.allclose(rotation.frequencies, [1, 0.1 / 1.5, 0.01 / 2, 0.001 / 2.5], rtol=1e-14)


def test_an_extra_factor_multiplies_that_of_yarn():
    keys = make_llama(**{"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0})
    keys |= {"llama.rope.scaling.attn_factor": 0.5, "llama.rope.scaling.original_context_length": 32768}
    (rotation,) = read_gguf_rotation(keys, {}, "m.gguf")
    assert rotation.attention_scaling == pytest.approx(0.5 * (0.1 * math.log(4) + 1), rel=1e-15)
    assert rotation.options["original"] == 32768


def test_the_old_name_of_the_factor():
    (rotation,) = read_gguf_rotation(make_llama(**{"llama.rope.scale_linear": 2.0}), {}, "m.gguf")
    assert (rotation.scaling, rotation.frequencies[0]) == ("linear", 0.5)


def test_alpha_enlarges_the_base_of_hunyuan():
    keys = {
        "general.architecture": "hunyuan_vl",
        "hunyuan_vl.embedding_length": 64,
        "hunyuan_vl.attention.head_count": 4,
        "hunyuan_vl.rope.scaling.type": "none",
        "hunyuan_vl.rope.scaling.alpha": 1000.0,
    }
    (rotation,) = read_gguf_rotation(keys, {}, "m.gguf")
    base = 10000.0 * 1000.0 ** (16 / 14)
    assert np.allclose(rotation.frequencies, base ** (-np.arange(8) / 8), rtol=1e-13)
    assert (rotation.scaling, rotation.options) == ("ntk", {"factor": 1000.0})


@pytest.mark.parametrize(
    ("arch", "more", "scheme", "values"),
    [
        ("bloom", {}, "alibi", {"heads": 16}),
        ("mpt", {"attention.max_alibi_bias": 8.0}, "alibi", {"heads": 16}),
        ("mpt", {"attention.max_alibi_bias": 0.0}, "learned", {"rows": 2048, "d": 1024, "unused": 0}),
        ("baichuan", {"block_count": 40}, "alibi", {"heads": 16}),
        ("gpt2", {}, "learned", {"rows": 2048, "d": 1024, "unused": 0}),
        ("t5", {"attention.relative_buckets_count": 32}, "t5", {"buckets": 32, "max_distance": 128, "heads": 16}),
        ("mamba", {}, "none", {}),
        ("granitehybrid", {"rope.scaling.finetuned": False}, "none", {}),
    ],
)
def test_other_kinds_of_encoding(arch, more, scheme, values):
    keys = {"context_length": 1024, "embedding_length": 1024, "attention.head_count": 16, **more}
    keys = {"general.architecture": arch, **{f"{arch}.{name}": value for name, value in keys.items()}}
    shapes = {"position_embd.weight": (2048, 1024)} if scheme == "learned" else {}
    found = read(keys, shapes=shapes)
    assert (found.scheme, dict(found.values), found.layers) == (scheme, values, ())
    assert read_gguf_rotation({**keys}, {}, "m.gguf") == () or scheme == "learned"


def test_other_heads_and_shares():
    keys = make_llama(**{"llama.rope.dimension_count": None, "llama.attention.head_count": [0, 32, 16]})
    assert read(keys).layers[0].head_dim == 128
    for width, turned in ((80, 32), (128, 42), (96, 58), (192, 2)):
        layer = read(make_llama(**{"llama.attention.key_length": width, "llama.rope.dimension_count": turned})).layers[
            0
        ]
        assert int(layer.head_dim * layer.share) == turned
        assert read_gguf_rotation(
            make_llama(**{"llama.attention.key_length": width, "llama.rope.dimension_count": turned}), {}, "m.gguf"
        )[0].rotary_dim == turned  # fmt: skip


def test_an_unknown_architecture_is_a_guess_with_a_warning():
    keys = {"general.architecture": "novel", "novel.embedding_length": 64, "novel.attention.head_count": 4}
    assert "not known here ('novel')" in complain(keys)
    found = read({**keys, "novel.rope.freq_base": 1e4})
    assert [(one.level, one.code) for one in found.findings] == [("warning", "unknown-architecture")]
    assert found.layers[0].layout == "half"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"general.architecture": None}, "lacks a key; looked for general.architecture"),
        ({"general.architecture": None, "split.no": 2}, "is part 3 of a model in several files"),
        ({"general.architecture": 3}, "general.architecture cannot be used (3); a text"),
        ({"general.architecture": "clip"}, "projector of pictures"),
        ({"llama.rope.freq_base": "big"}, "llama.rope.freq_base cannot be used ('big'); a number above 0"),
        ({"llama.rope.freq_base": math.nan}, "llama.rope.freq_base cannot be used (nan)"),
        ({"llama.rope.freq_base": True}, "llama.rope.freq_base cannot be used (True)"),
        ({"llama.attention.head_count": 0}, "llama.attention.head_count cannot be used (0)"),
        ({"llama.attention.head_count": [True]}, "llama.attention.head_count cannot be used ([True])"),
        ({"llama.attention.head_count": None, "llama.rope.dimension_count": None}, "attention.head_count"),
        ({"llama.embedding_length": 4097}, "llama.embedding_length cannot be used (4097); a multiple of the 32 heads"),
        ({"llama.rope.dimension_count": 256}, "llama.rope.dimension_count cannot be used (256); an even number up to"),
        ({"llama.rope.dimension_count": 63}, "llama.rope.dimension_count cannot be used (63)"),
        ({"llama.attention.key_length": 63, "llama.rope.dimension_count": None}, "cannot be used (63); an even number"),
        ({"llama.attention.key_length": 1 << 30}, "the width of a head cannot be used (1073741824)"),
        ({"llama.context_length": 1.5}, "llama.context_length cannot be used (1.5)"),
        ({"llama.rope.scaling.type": "magic"}, "llama.rope.scaling.type cannot be used ('magic'); none, linear, yarn"),
        ({"llama.rope.scaling.type": "longrope"}, "longrope with the tensors"),
        ({"llama.rope.scaling.type": "yarn", "llama.rope.scaling.yarn_ext_factor": 0.5}, "1 is accepted"),
        ({"llama.rope.scaling.type": "yarn", "llama.context_length": None}, "yarn depends on it"),
    ],
)
def test_refuses_keys_in_one_line(changes, words):
    assert words in complain(make_llama(**changes))


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        (
            {"rope_freqs.weight": (1.0,) * 32},
            "tensor rope_freqs.weight cannot be used (32 numbers); 64 numbers above 0",
        ),
        ({"rope_freqs.weight": (0.0,) * 64}, "64 numbers above 0, one for each pair"),
        ({"rope_freqs.weight": (1.0, *[1e-320] * 63)}, "has frequencies beyond 1.79769e+308"),
        ({"rope_factors_long.weight": (1.0,) * 64}, "both are needed"),
    ],
)
def test_refuses_tensors_in_one_line(tensors, words):
    assert words in complain(make_llama(), tensors)


def test_the_limits_hold_for_what_models_have():
    assert gguf_header.MAX_GGUF_WORDS > 4 * 262144
