"""Tables that a person names as files: every format good and bad, the same numbers from each, bounded cost."""

import io
import json
import os
import random
import re
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from pe_spectra.errors import FileError, PeSpectraError
from pe_spectra.files import arrays, csv_table, npy, npz, safetensors_file
from pe_spectra.files.checkpoint import find_checkpoint
from pe_spectra.files.json_file import read_json
from pe_spectra.files.known_tables import describe_known_table
from pe_spectra.files.reading import NoTableError
from pe_spectra.files.tables import read_array
from tests.pace import call_within

#: Numbers that float16 and bfloat16 hold exactly.
TABLE = (np.arange(35).reshape(7, 5) - 17) / 8.0


def refuse(path, tensor=None, **options):
    """Give what is said about a file that is refused, without its name."""
    with pytest.raises(FileError) as caught:
        read_array(Path(path), tensor, label="--encoding", **options)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith("(--encoding)")
    assert len(text) < 2200
    return text.partition(": ")[2]


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


# --------------------------------------------------------------------------- the same numbers from each


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


def test_the_same_table_in_every_form_gives_the_same_numbers(tmp_path):
    forms = write_forms(tmp_path)
    assert len(forms) == 18
    for path, tensor, dtype in forms:
        for named in {tensor, None}:
            found = read_array(path, named, label="-e")
            assert_array_equal(found.values, TABLE, err_msg=str(path))
            assert (found.dtype, found.tensor) == (dtype, tensor), path
            assert found.values.dtype == np.float64
            assert found.values.flags.c_contiguous
            assert found.values.dtype.isnative
            with pytest.raises(ValueError, match="read-only"):
                found.values[0, 0] = 1


@pytest.mark.parametrize("dtype", sorted(set(arrays.ITEM_SIZES) - {"bfloat16"}))
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("axes", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_of_every_type_and_order(tmp_path, dtype, order, axes, version):
    table = np.array((TABLE * 8 + 20), order=axes).astype(np.dtype(dtype).newbyteorder(order), order=axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a version that is newer than the array needs
        path = write(tmp_path / "t.npy", npy_bytes(table, version=version))
    found = read_array(path)
    assert_array_equal(found.values, table.astype(np.float64))
    assert found.dtype == dtype


def test_a_table_larger_than_a_chunk_in_either_order(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK", 64)
    table = np.random.default_rng(0).standard_normal((37, 11))
    for order in "CF":
        path = write(tmp_path / "t.npy", npy_bytes(np.array(table, order=order)))
        assert_array_equal(read_array(path).values, table)
    cube = np.random.default_rng(0).standard_normal((1, 3, 5, 7))
    path = write(tmp_path / "t.npy", npy_bytes(np.asfortranarray(cube)))
    assert_array_equal(read_array(path, axes=(3,)).values, cube[0])


@pytest.mark.parametrize("dtype", ["I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"])
def test_safetensors_integers(tmp_path, dtype):
    kind = {"I": "i", "U": "u"}[dtype[0]] + str(int(dtype[1:]) // 8)
    table = np.arange(6).reshape(2, 3).astype(kind)
    path = write(tmp_path / "t.safetensors", pack({"a": entry((2, 3), 0, table.nbytes, dtype)}, table.tobytes()))
    assert_array_equal(read_array(path).values, table)


def test_every_bfloat16_is_read_as_its_bits_say(tmp_path):
    bits = np.arange(1 << 16, dtype=np.uint32)
    values = (bits << 16).view(np.float32)
    bits = bits[np.isfinite(values)]
    path = write(
        tmp_path / "t.safetensors",
        pack({"a": entry((1, bits.size), 0, 2 * bits.size, "BF16")}, bits.astype("<u2").tobytes()),
    )
    assert_array_equal(read_array(path).values[0], values[np.isfinite(values)].astype(np.float64))


def test_leading_axes_of_length_1_are_left_out_and_that_is_said(tmp_path):
    path = write(tmp_path / "t.npy", npy_bytes(TABLE[None, None]))
    found = read_array(path)
    assert_array_equal(found.values, TABLE)
    assert found.notes == ("shape 1 x 1 x 7 x 5 read as 7 x 5",)
    row = write(tmp_path / "row.npy", npy_bytes(TABLE[:1]))
    assert read_array(row).values.shape == (1, 5)
    assert read_array(row, axes=(1,)).values.shape == (5,)
    assert read_array(row, axes=(1, 2)).values.shape == (1, 5)
    assert "7 x 5" in refuse(write(tmp_path / "t.npy", npy_bytes(TABLE)), axes=(1, 3))


def test_integers_beyond_the_exact_ones_are_counted(tmp_path):
    edge = 1 << 53
    path = write(tmp_path / "t.npy", npy_bytes(np.array([[edge, edge + 1], [-edge - 1, 0]])))
    assert read_array(path).notes == ("integers beyond 2**53 were rounded to float64 (2 cells)",)
    path = write(tmp_path / "u.npy", npy_bytes(np.array([[(1 << 64) - 1]], dtype=np.uint64)))
    assert read_array(path).notes == ("integers beyond 2**53 were rounded to float64 (1 cell)",)
    path = write(tmp_path / "f.npy", npy_bytes(np.array([[1e300, edge]])))
    assert read_array(path).notes == ()


@pytest.mark.parametrize("bits", [0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001])
def test_the_first_cell_that_is_not_finite_is_named(tmp_path, bits):
    """0x7f800001 is a signalling NaN: NumPy warns when it is widened."""
    table = np.zeros((3, 4), np.float32)
    table.view(np.uint32)[1, 2] = table.view(np.uint32)[2, 1] = bits
    for order in "CF":
        said = refuse(write(tmp_path / "t.npy", npy_bytes(np.array(table, order=order))))
        assert re.search(r"row 1, column 2 is (-?inf|nan); finite", said)
    assert "entry 6 is" in refuse(write(tmp_path / "t.npy", npy_bytes(table.reshape(-1))), axes=(1,))


def test_a_bad_cell_behind_the_first_chunk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK", 64)
    table = np.zeros((100, 3))
    table[77, 2] = np.nan
    assert "row 77, column 2 is nan" in refuse(write(tmp_path / "t.npy", npy_bytes(table)))


# --------------------------------------------------------------------------- which tensor


def save(folder, *names, shape=(3, 2)):
    path = folder / "t.safetensors"
    save_file({name: np.full(shape, number, np.float32) for number, name in enumerate(names)}, path)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "bert.embeddings.position_embeddings.weight",
        "model.decoder.embed_positions.weight",
        "transformer.wpe.weight",
        "wpe.weight",
        "text_model.embeddings.position_embedding.weight",
        "positional_embedding",
        "pos_embed",
        "vit.embeddings.position_embeddings",
        "encoder.pos_embedding",
        "encoder/pos_embed",
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "layers.0.blocks.0.attn.relative_position_bias_table",
    ],
)
def test_the_known_name_is_found_among_others(tmp_path, name):
    found = read_array(save(tmp_path, "a.weight", "decoder_pos_embed", name, "z.weight"))
    assert found.tensor == name
    assert found.values[0, 0] == 2
    assert found.notes == (f"tensor {name} (3 x 2) was read, one of 4",)


def test_several_known_names_are_listed(tmp_path):
    path = save(tmp_path, "a", "text.positional_embedding", "visual.positional_embedding", "b")
    said = refuse(path)
    assert "several position tables" in said
    assert "text.positional_embedding (3 x 2), visual.positional_embedding (3 x 2); name one" in said
    assert read_array(path, "visual.positional_embedding").values[0, 0] == 2


def test_a_table_of_positions_goes_before_biases(tmp_path):
    found = read_array(save(tmp_path, "0.relative_position_bias_table", "pos_embed", "1.relative_position_bias_table"))
    assert found.tensor == "pos_embed"


#: Names of tables of words in Llama, GPT-2, BERT, CLIP, T5 and others.
VOCABULARIES = [
    "model.embed_tokens.weight", "transformer.wte.weight", "wte.weight", "bert.embeddings.word_embeddings.weight",
    "text_model.embeddings.token_embedding.weight", "tok_embeddings.weight", "shared.weight", "lm_head.weight",
    "gpt_neox.embed_in.weight", "embed_out.weight", "backbone.embeddings.weight", "encoder/embeddings.weight",
]  # fmt: skip


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_table_of_words_is_read_only_where_it_is_named(tmp_path, name):
    path = save(tmp_path, name)
    with pytest.raises(NoTableError, match=r"holds tables of words and none of positions: \S+ \(3 x 2\); name one"):
        read_array(path)
    assert read_array(path, name).tensor == name
    assert read_array(path, pick=False).tensor == name
    assert read_array(save(tmp_path, name, "wpe.weight")).tensor == "wpe.weight"
    with pytest.raises(NoTableError, match=rf"none of a known name: q.weight \(3 x 2\), {name} \(3 x 2\); name one"):
        read_array(save(tmp_path, name, "q.weight"))
    np.savez(tmp_path / "t.npz", **{name: TABLE})
    with pytest.raises(NoTableError, match="tables of words"):
        read_array(tmp_path / "t.npz")


@pytest.mark.parametrize("name", ["ln", "weight", "pos.embeddings.weight", "my_wte.weight", "embed_tokens.weight.x"])
def test_a_lone_table_of_another_name_is_taken(tmp_path, name):
    path = save(tmp_path, name)
    assert read_array(path).tensor == name
    with pytest.raises(NoTableError, match=f"no table with the known name of one of positions: {name} "):
        read_array(path, only_known=True)
    assert read_array(save(tmp_path, "pos_embed"), only_known=True).tensor == "pos_embed"


def test_shards_with_nothing_but_words_hold_no_table(tmp_path):
    write_shards(tmp_path / "m", {"lm_head.weight": TABLE}, {"model.embed_tokens.weight": TABLE, "norm": TABLE[0]})
    for place in (tmp_path / "m", tmp_path / "m" / "model.safetensors.index.json"):
        with pytest.raises(NoTableError, match="tables of words and none of positions"):
            read_array(place)
    assert_array_equal(read_array(tmp_path / "m", "lm_head.weight").values, TABLE)


def test_names_are_listed_whole_up_to_200_characters(tmp_path):
    said = refuse(save(tmp_path, *[f"{'x' * 198}{n:02}" for n in range(9)]))
    assert f"{'x' * 198}00 (3 x 2), {'x' * 198}01 (3 x 2), " in said
    assert said.count("(3 x 2)") == 8
    assert "and 1 more; name one as FILE::TENSOR" in said
    assert f"{'x' * 200}... (201 characters) (3 x 2), " in refuse(save(tmp_path, "x" * 201, "y"))


def test_without_a_known_name_the_candidates_are_listed(tmp_path):
    said = refuse(save(tmp_path, *[f"{'x' * 100}{n}" for n in range(30)]))
    assert "several tables, none of a known name" in said
    assert "and 22 more; name one as FILE::TENSOR" in said
    assert "several tables: a (3 x 2), pos_embed (3 x 2)" in refuse(save(tmp_path, "a", "pos_embed"), pick=False)


def test_a_name_that_is_not_there_lists_what_is_near(tmp_path):
    said = refuse(save(tmp_path, "a", "b", "vit.pos_embed"), "pos_embed")
    assert said.startswith("has no tensor pos_embed; it has vit.pos_embed (3 x 2), a")
    assert len(refuse(save(tmp_path, "a"), "n" * 5000)) < 300


def test_a_name_where_there_are_none_is_refused(tmp_path):
    assert "leave ::a out" in refuse(write(tmp_path / "t.npy", npy_bytes(TABLE)), "a")
    assert "leave ::a out" in refuse(write(tmp_path / "t.csv", "1,2\n"), "a")


@pytest.mark.parametrize(
    ("tensor", "config", "rows", "kind", "prefix"),
    [
        ("model.decoder.embed_positions.weight", {"model_type": "opt"}, 2050, "positions", 2),
        ("decoder.embed_positions.weight", {"model_type": "bart"}, 1026, "positions", 2),
        ("decoder.embed_positions.weight", {"model_type": "whisper"}, 448, "positions", 0),
        ("decoder.embed_positions.weight", None, 2050, "positions", 2),
        ("encoder.embed_positions.weight", None, 1500, "positions", 0),
        (
            "roberta.embeddings.position_embeddings.weight",
            {"model_type": "roberta", "pad_token_id": 1},
            514,
            "positions",
            2,
        ),
        ("embeddings.position_embeddings.weight", {"model_type": "esm", "pad_token_id": 4}, 1026, "positions", 5),
        ("roberta.embeddings.position_embeddings.weight", None, 514, "positions", 2),
        ("embeddings.position_embeddings.weight", None, 514, "positions", 2),
        ("bert.embeddings.position_embeddings.weight", {"model_type": "bert", "pad_token_id": 0}, 512, "positions", 0),
        ("bert.embeddings.position_embeddings.weight", None, 512, "positions", 0),
        ("wpe.weight", None, 1025, "positions", 0),
        ("pos_embed", None, 197, "positions", 1),
        ("pos_embed", None, 198, "positions", 2),
        ("pos_embed", None, 196, "positions", 0),
        ("pos_embed", {"image_size": 224, "patch_size": 16}, 201, "positions", 5),
        (
            "vision_model.embeddings.position_embedding.weight",
            {"vision_config": {"image_size": 224, "patch_size": 32}},
            50,
            "positions",
            1,
        ),
        ("text_model.embeddings.position_embedding.weight", {"vision_config": {"image_size": 224}}, 77, "positions", 0),
        ("visual.positional_embedding", None, 50, "positions", 1),
        ("positional_embedding", None, 77, "positions", 0),
        ("pos_embed", None, None, "positions", 0),
        ("pos_embed", None, 2, "positions", 0),
        ("b.relative_attention_bias.weight", None, 32, "buckets", 0),
        ("b.relative_position_bias_table", None, 169, "offsets", 0),
        ("something.weight", None, 197, "unknown", 0),
        (None, None, 197, "unknown", 0),
        ("pos_embed", {"image_size": True, "patch_size": 0}, 197, "positions", 1),
        ("a.position_embeddings.weight", {"model_type": "roberta", "pad_token_id": 10**9}, 514, "positions", 0),
    ],
)
def test_what_is_known_about_a_table(tensor, config, rows, kind, prefix):
    found = describe_known_table(tensor, config, rows)
    assert (found.kind, found.prefix) == (kind, prefix)
    assert bool(found.notes) == (prefix > 0 or kind in ("buckets", "offsets"))


# --------------------------------------------------------------------------- what is no file of the kind


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".pkl", ".PT", ".ckpt"])
def test_pickles_are_refused_with_the_line_that_converts_them(tmp_path, suffix):
    said = refuse(write(tmp_path / f"model{suffix}", b"\x80\x02N."))
    assert f"torch.load('model{suffix}'" in said
    assert "weights_only=True" in said
    assert "safetensors" in said


def test_a_name_that_could_break_the_line_is_not_in_it(tmp_path):
    said = refuse(write(tmp_path / "a'); evil('.pt", b""))
    assert "torch.load('FILE.pt'" in said
    assert "evil" not in said.partition("python -c")[2]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("t.npy", b"", "is empty (0 bytes)"),
        ("t.csv", npy_bytes(TABLE), "is named .csv, but is a NumPy array"),
        ("t.npy", b"PK\x03\x04", "is named .npy, but is a zip archive"),
        ("t.safetensors", npy_bytes(TABLE), "but is a NumPy array"),
        ("t.npy", pack({"a": entry((1, 1), 0, 4)}, b"1234"), "but is a .safetensors file"),
        ("t.json", b"GGUF1234", "but is a GGUF file"),
        ("t.csv", b"\x1f\x8b123", "but is a file of gzip"),
        ("t.npz", b"\x89HDF\r\n\x1a\n", "but is a file of HDF5"),
        ("t.gguf", b"GGUF1234", "a .gguf file has more"),
        ("t.dat", b"\x89PNG\r\n\x1a\n", "is a picture (PNG)"),
        ("t.dat", b"1,2\n", "of an unknown kind"),
        ("t.json", b'{"hidden_size": 64}', "is a configuration and holds no table"),
    ],
)
def test_content_and_extension_must_agree(tmp_path, name, data, reason):
    assert reason in refuse(write(tmp_path / name, data))


def test_content_decides_where_the_extension_says_nothing(tmp_path):
    for name in ("t", "t.dat"):
        assert_array_equal(read_array(write(tmp_path / name, npy_bytes(TABLE))).values, TABLE)
        save_file({"a": TABLE}, tmp_path / name)
        assert_array_equal(read_array(tmp_path / name).values, TABLE)
        with open(tmp_path / name, "wb") as file:
            np.savez(file, a=TABLE)
        assert_array_equal(read_array(tmp_path / name).values, TABLE)
    assert_array_equal(read_array(write(tmp_path / "T.NPY", npy_bytes(TABLE))).values, TABLE)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "f.npy")
    assert "named pipe" in refuse(tmp_path / "f.npy")
    assert "device" in refuse("/dev/zero")
    (tmp_path / "l.npy").symlink_to("l.npy")
    assert "loop" in refuse(tmp_path / "l.npy")
    assert "too long" in refuse(tmp_path / ("x" * 300 + ".npy"))
    assert "no such file" in refuse(tmp_path / "none.npy")
    assert "no possible name" in refuse("a\0b.npy")
    write(tmp_path / "real.npy", npy_bytes(TABLE))
    (tmp_path / "link.npy").symlink_to("real.npy")
    assert_array_equal(read_array(tmp_path / "link.npy").values, TABLE)


@pytest.mark.parametrize(
    "fault", [MemoryError("x" * 99), RuntimeError("allow_pickle=True"), OSError(5, "text"), KeyError("k")]
)
def test_whatever_is_raised_inside_is_our_error_and_leaves_no_descriptor(tmp_path, monkeypatch, fault):
    path = write(tmp_path / "t.npy", npy_bytes(TABLE))
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0

    def fail(*_, **__):
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr("pe_spectra.files.npy.read_values", fail)
        said = refuse(path)
    assert said in {
        "needs more memory than there is (--encoding)",
        "is damaged, it cannot be read (--encoding)",
        "input or output failed (--encoding)",
    }
    assert (len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0) == before


# --------------------------------------------------------------------------- .npy

HEAD = "'descr': '<f8', 'fortran_order': False, 'shape': "


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("{" + HEAD + "(2, 2)}", "is cut off: its header claims 32 bytes of data, it has 16"),
        ("{" + HEAD + "(1, 1)}", "has 8 bytes behind its data"),
        ("{" + HEAD + "(-1, 2)}", "shape is no tuple"),
        ("{" + HEAD + "(True, 2)}", "shape is no tuple"),
        ("{" + HEAD + "(1,,2)}", "shape is no tuple"),
        ("{" + HEAD + "1}", "header that is not readable"),
        ("{" + HEAD + "(1, 2), 'shape': (1, 2)}", "header that is not readable"),
        ("{" + HEAD + "(1, 2), 'x': 1}", "header that is not readable"),
        ("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 2)}", "header that is not readable"),
        ("{'descr': '<f8', 'fortran_order': 'no', 'shape': (1, 2)}", "fortran_order is neither"),
        ("{'descr': '<f8', 'shape': (1, 2)}", "header that is not readable"),
        ("[1]", "header that is not readable"),
        ("", "header that is not readable"),
        ("{", "header that is not readable"),
        ("{" + HEAD + "(1, 2)", "header that is not readable"),
        ("{'descr': True, 'fortran_order': False, 'shape': (1, 2)}", "several fields"),
        ("{'descr': '<f1', 'fortran_order': False, 'shape': (1, 2)}", "depends on the machine"),
        ("{'descr': '', 'fortran_order': False, 'shape': (1, 2)}", "unknown type"),
        ("{" + HEAD + "(1, 65537)}", "65537 columns; at most 65536"),
        ("{" + HEAD + "(67108865,)}", "has 1 axis"),
        ("{" + HEAD + "(8193, 8192)}", "too many numbers (shape 8193 x 8192)"),
        ("{" + HEAD + f"({'9' * 41}, 1)" + "}", "shape is no tuple"),
        ("{" + HEAD + "(0, 4)}", "is empty (shape 0 x 4)"),
        ("{" + HEAD + "()}", "has no axes (a single number)"),
        ("{" + HEAD + "(2, 2, 2)}", "has 3 axes (shape 2 x 2 x 2); an array of 2 is accepted"),
        ("{" + HEAD + f"({'2, ' * 20})" + "}", "has 20 axes (shape 2 x 2 x 2 x 2 x 2 x 2 x 2 x 2 x ..)"),
        ("{" + HEAD + f"({'1, ' * 33})" + "}", "has 33 axes; at most 32"),
        ("(" * 4900, "header that is not readable"),
        ("-" * 4000 + "1", "header that is not readable"),
        (" " * 9999 + "\\d", "bytes; at most 10000"),
    ],
)
def test_npy_headers_that_are_refused(tmp_path, header, reason):
    assert reason in refuse(write(tmp_path / "t.npy", npy_header(header, data=bytes(16))))


def test_npy_headers_as_others_write_them(tmp_path):
    """Python 2 wrote 2L; other writers use double quotes, another order, no blanks."""
    for header in (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 2L), }",
        '{"shape":(1,2),"fortran_order":False,"descr":"<f8"}',
        "{'shape': (1, 2,), 'descr': '=f8', 'fortran_order': True}   \n",
    ):
        path = write(tmp_path / "t.npy", npy_header(header, data=np.array([3.0, 4.0]).tobytes()))
        assert_array_equal(read_array(path).values, [[3, 4]])


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.ones((2, 2), bool), "booleans"),
        (np.ones((2, 2), complex), "complex numbers"),
        (np.ones((2, 2), "m8[s]"), "durations"),
        (np.full((2, 2), b"a"), "text"),
        (np.zeros(3, [("a", "f8"), ("b", "i4")]), "several fields"),
        (np.zeros(3, [("a", "f8", (2,))]), "several fields"),
        (np.zeros((2, 2), ml_dtypes.bfloat16), "opaque bytes, as NumPy writes bfloat16"),
    ],
)
def test_npy_types_that_are_refused_by_name(tmp_path, array, word):
    said = refuse(write(tmp_path / "t.npy", npy_bytes(array)))
    assert word in said
    assert "float32, float64 and integers are accepted" in said


@pytest.mark.parametrize("version", [(0, 0), (1, 1), (4, 0), (9, 0)])
def test_npy_versions_that_are_not_known(tmp_path, version):
    data = npy_header("{" + HEAD + "(1, 2)}", data=bytes(16))
    assert "unknown version" in refuse(write(tmp_path / "t.npy", data[:6] + bytes(version) + data[8:]))


def test_npy_cut_anywhere_is_refused(tmp_path):
    data = npy_bytes(TABLE)
    for length in [*range(140), len(data) - 1]:
        refuse(write(tmp_path / "t.npy", data[:length]))
    refuse(write(tmp_path / "t.npy", data + b"\0"))


# --------------------------------------------------------------------------- .npz


def zip_members(path, members, method=zipfile.ZIP_DEFLATED, **options):
    with zipfile.ZipFile(path, "w", method, **options) as archive:
        for name, data in members:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a name that is given twice
                archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([], "no array"),
        ([("readme.txt", b"hi")], "no array"),
        ([("../a.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("a/../../b.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("..\\b.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("/a.npy", npy_bytes(TABLE))], "name is no plain one"),
        ([("a.npy", npy_bytes(TABLE)), ("a.npy", npy_bytes(TABLE))], "gives member a twice"),
        ([(f"{n}.npy", b"") for n in range(1025)], "too many members (1025); at most 1024"),
        ([("a.npy", bytes(20 << 20))], "at most 100 times is accepted above 16 MiB"),
        ([(f"{n}.npy", bytes(15 << 20)) for n in range(3)], "at most 100 times is accepted above 16 MiB"),
        ([("a.npy", b"")], "does not begin as a .npy file does"),
        ([("a.npy", npy_bytes(TABLE) + b"1")], "1 byte behind its data"),
        ([("a.npy", npy_bytes(TABLE)[:-1])], "is cut off"),
        ([("a.npy", npy_bytes(TABLE)), ("b.npy", npy_bytes(TABLE))], "a (7 x 5), b (7 x 5); name one"),
        ([("a.npy", npy_bytes(TABLE[0]))], "no tensor of 2 axes; it has a (5)"),
    ],
)
def test_npz_that_is_refused(tmp_path, members, reason):
    assert reason in refuse(zip_members(tmp_path / "t.npz", members))


def test_npz_members_that_are_no_arrays_do_not_hinder(tmp_path):
    path = zip_members(tmp_path / "t.npz", [("readme.txt", b"hi"), ("bad.npy", b"?"), ("pe.npy", npy_bytes(TABLE))])
    assert_array_equal(read_array(path).values, TABLE)
    assert "does not begin" in refuse(path, "bad")
    assert "no tensor readme.txt" in refuse(path, "readme.txt")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_npz_compressions_without_a_bound_are_refused(tmp_path, method):
    assert "unknown compression" in refuse(zip_members(tmp_path / "t.npz", [("a.npy", npy_bytes(TABLE))], method))


def test_npz_with_a_wrong_checksum_or_a_comment_is_refused(tmp_path):
    path = zip_members(tmp_path / "t.npz", [("a.npy", npy_bytes(TABLE))], zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    place = data.index(TABLE.tobytes())
    data[place] ^= 1
    assert "is damaged" in refuse(write(path, bytes(data)))
    assert "no complete zip archive" in refuse(write(path, path.read_bytes() + b"x"))


def test_npz_records_that_lie_are_refused(tmp_path):
    path = zip_members(
        tmp_path / "t.npz", [("a.npy", npy_bytes(TABLE)), ("b.npy", npy_bytes(TABLE))], zipfile.ZIP_STORED
    )
    data = path.read_bytes()
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 1)
    encrypted = data[: first + 8] + b"\1" + data[first + 9 :]
    assert "encrypted (a.npy)" in refuse(write(path, encrypted), "a")
    # both members of the directory lie where the first one does
    shared = data[second : second + 42] + bytes(4) + data[second + 46 :]
    size = len(npy_bytes(TABLE))
    body = data[:first]
    end = bytearray(shared[-22:])
    end[16:20] = struct.pack("<I", 40 + size)
    cut = body[: 40 + size] + data[first:second] + shared[:-22] + bytes(end)
    assert "lie on the same bytes" in refuse(write(path, cut), "b")
    few = zip_members(path, [(f"{n}.npy", b"") for n in range(1025)], zipfile.ZIP_STORED).read_bytes()
    assert "too many members" in refuse(write(path, few[:-14] + struct.pack("<HH", 1, 1) + few[-10:]))
    assert "name is no plain one" in refuse(write(path, data.replace(b"b.npy", b"b\0npy")), "a")
    locator = b"PK\x06\x07" + bytes(16)
    assert "no complete zip archive" in refuse(write(path, data[:-22] + locator + data[-22:]))


def test_npz_whose_directory_lies_about_its_number_is_refused_quickly(tmp_path):
    path = zip_members(tmp_path / "t.npz", [(f"{'n' * 200}{n}.npy", b"") for n in range(9000)], zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[-14:-10] = struct.pack("<HH", 1, 1)
    write(path, bytes(data))
    assert "has a directory of 2284890 bytes; at most 1048576" in call_within(1, lambda: refuse(path))


def test_npz_of_a_wide_directory_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1)  # as in archives of more than 4 GiB
    path = tmp_path / "t.npz"
    np.savez(path, pe=TABLE)
    assert b"PK\x06\x07" in path.read_bytes()
    assert_array_equal(read_array(path).values, TABLE)


# --------------------------------------------------------------------------- .safetensors


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


# --------------------------------------------------------------------------- folders and shards


def test_what_is_in_a_folder(tmp_path):
    found = find_checkpoint(tmp_path)
    assert (found.weights, found.config, found.pickle) == (None, None, None)
    write(tmp_path / "pytorch_model.bin", b"x")
    write(tmp_path / "config.json", "{}")
    found = find_checkpoint(tmp_path)
    assert (found.weights, found.config) == (None, tmp_path / "config.json")
    assert found.pickle == tmp_path / "pytorch_model.bin"
    assert "torch.load('pytorch_model.bin'" in refuse(tmp_path)
    write(tmp_path / "other.safetensors", b"x")
    assert find_checkpoint(tmp_path).weights == tmp_path / "other.safetensors"
    assert find_checkpoint(tmp_path).pickle is None
    write(tmp_path / "another.safetensors", b"x")
    assert find_checkpoint(tmp_path).weights is None
    write(tmp_path / "model.safetensors.index.json", b"{}")
    assert find_checkpoint(tmp_path).weights == tmp_path / "model.safetensors.index.json"
    write(tmp_path / "model.safetensors", b"x")
    assert find_checkpoint(tmp_path).weights == tmp_path / "model.safetensors"
    for name in ("none", "config.json", "a\0b"):
        with pytest.raises(FileError):
            find_checkpoint(tmp_path / name)


def test_a_folder_without_a_table_of_positions_says_so_in_a_class_of_its_own(tmp_path):
    with pytest.raises(NoTableError, match="without weights"):
        read_array(tmp_path)
    write(tmp_path / "config.json", '{"rope_theta": 1e4}')
    with pytest.raises(NoTableError, match="holds no table"):
        read_array(tmp_path / "config.json")
    save_file({"q.weight": TABLE, "k.weight": TABLE}, tmp_path / "model.safetensors")
    with pytest.raises(NoTableError, match="none of a known name"):
        read_array(tmp_path)
    with pytest.raises(FileError) as caught:
        read_array(tmp_path, pick=False)
    assert not isinstance(caught.value, NoTableError)
    (tmp_path / "model.safetensors").unlink()
    write_shards(tmp_path / "s", {"q.weight": TABLE}, {"k.weight": TABLE})
    with pytest.raises(NoTableError, match="none of a known name"):
        read_array(tmp_path / "s")


def test_a_sharded_checkpoint_reads_the_shard_of_its_tensor(tmp_path):
    index = write_shards(tmp_path / "m", {"a.weight": TABLE, "pos_embed": TABLE[None] + 1}, {"b.weight": TABLE + 2})
    found = read_array(tmp_path / "m")
    assert found.tensor == "pos_embed"
    assert found.path.name == "model-00001-of-00002.safetensors"
    assert_array_equal(found.values, TABLE + 1)
    assert_array_equal(read_array(tmp_path / "m", "b.weight").values, TABLE + 2)
    assert "has no tensor c; it has" in refuse(tmp_path / "m", "c")
    path = tmp_path / "m" / "model.safetensors.index.json"
    write(path, json.dumps({"weight_map": {**index["weight_map"], "c": "model-00002-of-00002.safetensors"}}))
    assert "has no tensor c; it has b.weight" in refuse(path, "c")
    save_file({"pos_embed": TABLE[0], "b.weight": TABLE}, tmp_path / "m" / "model-00002-of-00002.safetensors")
    write(path, json.dumps(index))
    assert_array_equal(read_array(path).values, TABLE + 1)  # a stray tensor in another shard is not it
    write(path, json.dumps({"weight_map": {"b.weight": index["weight_map"]["b.weight"]}}))
    assert read_array(path).tensor == "b.weight"
    write(path, json.dumps({"weight_map": {"c": "gone.safetensors"}}))
    assert "no such file" in refuse(path)


@pytest.mark.parametrize(
    "shard",
    ["../a.safetensors", "/a.safetensors", "b/a.safetensors", "..\\a.safetensors", "c:a.safetensors",
     "a\0.safetensors", ".safetensors", "", 1, None, ["a.safetensors"], "x" * 5000],
)  # fmt: skip
def test_a_shard_lies_beside_its_index(tmp_path, shard):
    path = write(tmp_path / "m.safetensors.index.json", json.dumps({"weight_map": {"pos_embed": shard}}))
    assert "places pos_embed in" in refuse(path)


def test_an_index_that_is_damaged_is_refused(tmp_path):
    path = tmp_path / "m.safetensors.index.json"
    assert "gives a twice" in refuse(write(path, '{"weight_map": {"a": "b.safetensors", "a": "c.safetensors"}}'))
    assert "is a configuration" in refuse(write(path, '{"weight_map": []}'))
    assert "holds no tensor" in refuse(write(path, '{"weight_map": {}}'))
    many = {str(n): f"{n}.safetensors" for n in range(1025)}
    assert "over 1025 files" in refuse(write(path, json.dumps({"weight_map": many})))
    assert "is not JSON" in refuse(write(path, '{"weight_map"'))
    said = refuse(write(path, '{"weight_map": {"a": "pytorch_model-00001-of-00002.bin"}}'))
    assert said.startswith("leads to pytorch_model-00001-of-00002.bin, which is a pickle")


# --------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n3,4", [[1, 2], [3, 4]]),
        ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
        ("\ufeff1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("1,2\n3,4\n\n\n", [[1, 2], [3, 4]]),
        ("x,y\n1,2\n", [[1, 2]]),
        ('"a,b",c\n1,2\n', [[1, 2]]),
        ("# a comment of NumPy\n1,2\n", [[1, 2]]),
        ("1, 2\n +3e0 ,-.5\n", [[1, 2], [3, -0.5]]),
        ('"1","2"\n', [[1, 2]]),
        ("1\n2\n", [[1], [2]]),
        ("position\n1\n", [[1]]),
        ("position,0,1\n0,5,6\n1,7,8\n", [[5, 6], [7, 8]]),
        ("lag,head 0\n-1,5\n0,6\n", [[5], [6]]),
        ("index,frequency,mass\n0,5,6\n", [[5, 6]]),
        ("positions,a\n0,5\n", [[0, 5]]),
        ("0.1,1e-400\n", [[0.1, 0]]),
    ],
)
def test_text_that_is_read(tmp_path, text, table):
    found = read_array(write(tmp_path / "t.csv", text))
    assert_array_equal(found.values, table)
    assert read_array(write(tmp_path / "t.tsv", text.replace(",", "\t"))).dtype == "text"


def test_text_notes(tmp_path):
    path = write(tmp_path / "t.csv", "position,e0\n0,5\n")
    assert read_array(path).notes == ("column position counts the rows and was left out",)
    assert "read as numbers" in read_array(write(path, "0,1\n5,6\n")).notes[0]
    assert read_array(write(path, "5,6\n")).notes == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\n", "is empty"),
        ("x,y\n", "no line of numbers"),
        ("1,2\n3\n", "line 2 has 1 cell where 2 are expected"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells where 2"),
        ("x,y\n1,2,3\n", "line 2 has 3 cells where 2"),
        ("1,2\n\n3,4\n", "line 2 is empty"),
        ("1,2\n3,\n", "line 2 has an empty cell (2)"),
        (",1\n2,3\n", "line 1 has an empty cell (1)"),
        ('""\n1\n2\n', "line 1 has an empty cell (1)"),
        (",a\n2,3\n", "line 1 has an empty cell (1)"),
        ("a,b\nc,d\n", "line 2, cell 1 is not a number (c)"),
        ("nan,nan\n1,2\n", "line 1, cell 1 is not a number (nan)"),
        ("1,inf\n", "line 1, cell 2 is not a number (inf)"),
        ("1,2\n1,1_000\n", "cell 2 is not a number (1_000)"),
        ("1,0x10\n", "cell 2 is not a number (0x10)"),
        ("1,\u0661\n", "cell 2 is not a number"),
        ("=1+1,2\n3,4\n", "line 1, cell 1 is not a number (=1+1)"),
        ("1;2\n3;4\n", "separated by commas, not by semicolons"),
        ("1\t2\n3\t4\n", "separated by commas, not by tabs"),
        ("1 2\n3 4\n", "separated by commas, not by blanks"),
        ("1,1e400\n", "line 1: row 0, column 1 is inf"),
        ("x,y\n1,2\n1,-1e999\n", "line 3: row 1, column 1 is -inf"),
        ('1,"2\n3",4\n', "line 1 has a quote that is not closed"),
        ("1,2\n\0,4\n", "line 2 has a zero byte"),
        (b"1,2\n\xff,4\n", "not UTF-8 (line 2)"),
        (b"\xff\xfe1\0", "is UTF-16"),
        ("1," * 65536 + "1\n", "has 65537 columns; at most 65536"),
        ("1,2\n" + "1," * 200_000 + "1\n", "line 2 has 200001 cells; at most 65536"),
        ("1,2\n" + "1" * (5 << 20), "line 2 has more than 4194304 bytes"),
    ],
)
def test_text_that_is_refused_by_line(tmp_path, text, reason):
    path = write(tmp_path / "t.csv", text)
    assert reason in call_within(1, lambda: refuse(path))


def test_text_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "MAX_TEXT_TABLE_BYTES", 10)
    assert "at most 10" in refuse(write(tmp_path / "t.csv", "1,2\n" * 4))
    monkeypatch.undo()
    monkeypatch.setattr(csv_table, "MAX_TEXT_LINES", 3)
    assert "more than 3 lines" in refuse(write(tmp_path / "t.csv", "1,2\n" * 4))
    monkeypatch.undo()
    monkeypatch.setattr(csv_table, "MAX_HELD_ENTRIES", 5)
    assert "too many numbers; at most 5" in refuse(write(tmp_path / "t.csv", "1,2\n" * 4))


TEXT, NPY = b"1,2\n3,4", npy_bytes(np.ones((3, 2)))


def make_npz():
    stream = io.BytesIO()
    np.savez(stream, a=np.eye(2), b=np.eye(3))
    return stream.getvalue()


#: A file, the module and the name of a limit that it just meets, that limit, and what is said of a smaller one.
AT_LIMITS = [
    ("a.csv", TEXT, csv_table, "MAX_TEXT_TABLE_BYTES", 7, "has 7 bytes; a text of at most 6"),
    ("a.csv", TEXT, csv_table, "MAX_TEXT_LINES", 2, "has more than 1 lines"),
    ("a.csv", TEXT + b"\n", csv_table, "MAX_TEXT_LINES", 2, "has more than 1 lines"),
    ("a.csv", TEXT, csv_table, "MAX_LINE_BYTES", 3, "line 2 has more than 2 bytes"),
    ("a.csv", TEXT, csv_table, "MAX_HELD_ENTRIES", 4, "has too many numbers; at most 3"),
    ("a.csv", TEXT, csv_table, "MAX_COLUMNS", 1, "line 1 has 2 cells; at most 0"),
    ("a.npy", NPY, arrays, "MAX_HELD_ENTRIES", 6, "has too many numbers (shape 3 x 2); at most 5"),
    ("a.npy", NPY, arrays, "MAX_COLUMNS", 2, "has 2 columns; at most 1"),
    ("a.npy", NPY, arrays, "MAX_AXES", 2, "has 2 axes; at most 1"),
    ("a.npy", NPY, npy, "MAX_NPY_HEADER", int.from_bytes(NPY[8:10], "little"), "has a header of"),
    ("a.npz", make_npz(), npz, "MAX_MEMBERS", 2, "has too many members (2); at most 1"),
    ("a.npz", make_npz(), npz, "_MAX_DIRECTORY", int.from_bytes(make_npz()[-10:-6], "little"), "has a directory of"),
    ("a.npz", make_npz(), npz, "MAX_INFLATION", 1, "would grow from"),
    ("a.npz", make_npz(), npz, "FREE_INFLATION_BYTES", 128 + 128 + 32 + 72, "would grow from"),
]


@pytest.mark.parametrize(("name", "data", "module", "limit", "most", "reason"), AT_LIMITS)
def test_what_just_meets_a_limit_is_read(tmp_path, monkeypatch, name, data, module, limit, most, reason):
    path = write(tmp_path / name, data)
    if "INFLATION" in limit:  # both must be passed
        monkeypatch.setattr(npz, "FREE_INFLATION_BYTES", 0)
        monkeypatch.setattr(npz, "MAX_INFLATION", 0)
    monkeypatch.setattr(module, limit, most)
    tensor = "a" if name == "a.npz" else None
    assert read_array(path, tensor=tensor).values.size >= 4
    monkeypatch.setattr(module, limit, most - 1)
    assert reason in refuse(path, tensor)


def test_text_that_grows_while_it_is_read_is_bounded(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", "1,2\n" * 4)
    monkeypatch.setattr(csv_table, "MAX_TEXT_TABLE_BYTES", 16)
    read_array(path)
    whole = csv_table._split_lines

    def grow(file, delimiter):
        write(path, "1,2\n" * 5)
        return whole(file, delimiter)

    monkeypatch.setattr(csv_table, "_split_lines", grow)
    assert "grew beyond 16 bytes" in refuse(path)


def test_text_in_chunks_is_the_text_whole(tmp_path, monkeypatch):
    table = np.random.default_rng(1).standard_normal((50, 7))
    path = write(tmp_path / "t.csv", "".join(",".join(map(repr, row)) + "\r\n" for row in table.tolist()))
    for chunk in (1, 7, 64, 1 << 20):
        monkeypatch.setattr(csv_table, "_CHUNK", chunk)
        assert_array_equal(read_array(path).values, table)


def test_text_as_a_list(tmp_path):
    assert_array_equal(read_array(write(tmp_path / "t.csv", "1\n2\n"), axes=(1,)).values, [1, 2])
    assert_array_equal(read_array(write(tmp_path / "t.csv", "1,2\n"), axes=(1,)).values, [1, 2])
    assert "2 axes" in refuse(write(tmp_path / "t.csv", "1,2\n3,4\n"), axes=(1,))


# --------------------------------------------------------------------------- JSON


def test_json_gives_the_object(tmp_path):
    path = write(
        tmp_path / "c.json", '\ufeff{"a": 1, "b": [1.5, null, true, {"c": "\\u00e9"}], "big": ' + "9" * 40 + "}"
    )
    assert read_json(path, "audit") == {"a": 1, "b": [1.5, None, True, {"c": "é"}], "big": int("9" * 40)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("[1]", "holds a list; a JSON object"),
        ("1", "holds a number; a JSON object"),
        ('"x"', "holds a text; a JSON object"),
        ("true", "holds a truth value; a JSON object"),
        ("null", "holds null; a JSON object"),
        ('{"hidden_size": NaN}', "has NaN"),
        ('{"a": -Infinity}', "has -Infinity"),
        ('{"rope_theta": 1e999}', "out of range (1e999)"),
        ('{"hidden_size": 1, "hidden_size": 2}', "gives hidden_size twice"),
        ('{"a": {"b": 1, "b": 2}}', "gives b twice"),
        ("{" + "".join(f'"{n}":1,' for n in range(90_000)) + '"89999":1}', "gives 89999 twice"),
        ('{"a": ' + "[" * 100_000, "nests too deep"),
        ('{"a": ' + "[" * 70 + "]" * 70 + "}", "nests too deep"),
        ('{"a": ' + "9" * 5000 + "}", "has a number of 5000 digits"),
        ('{"a": 1', "is not JSON (line 1, column 8)"),
        ('{"a": 1} x', "is not JSON (line 1"),
        (b'{"a":\n "\xe9"}', "is not UTF-8 (line 2)"),
        ("{" + " " * (1 << 20) + "}", "holds more than 1048576 bytes"),
    ],
)
def test_json_that_is_refused(tmp_path, text, reason):
    path = write(tmp_path / "c.json", text)

    def refuse_json():
        with pytest.raises(FileError) as caught:
            read_json(path, "audit")
        return str(caught.value)

    said = call_within(1, refuse_json)
    assert reason in said
    assert said.endswith("(audit)")
    assert len(said) < len(str(path)) + 150


# --------------------------------------------------------------------------- damage


def mutate(data, generator):
    """Change a few bytes, most of them in front; now and then cut, double or insert."""
    data = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        head = generator.random() < 0.8
        place = generator.randrange(min(len(data), 200) if head else len(data)) if data else 0
        action = generator.random()
        if action < 0.6 and data:
            data[place] = generator.choice(
                [0, 0xFF, data[place] ^ (1 << generator.randrange(8)), generator.randrange(256)]
            )
        elif action < 0.75:
            del data[place : place + generator.randint(1, 20)]
        elif action < 0.9:
            data[place:place] = generator.choice(
                [b"9" * 20, b"-1", b"[", b"(", b'"', b"\\", b"\n", b",", b"1e999", bytes(8)]
            )
        else:
            del data[place:]
    return bytes(data)


def read_or_refuse(path):
    """Give the table of a file, or our error about it."""
    try:
        return read_array(path, "pe" if path.suffix == ".npz" else None, label="-e")
    except PeSpectraError as error:
        return error


@pytest.mark.slow
def test_damaged_files_give_our_error_or_numbers_and_nothing_else(tmp_path):
    np.savez_compressed(tmp_path / "b.npz", pe=TABLE, other=TABLE)
    save_file({"pos_embed": TABLE, "a": TABLE.astype(np.float32), "c": np.ones(3)}, tmp_path / "c.safetensors")
    np.save(tmp_path / "a.npy", TABLE)
    np.savetxt(tmp_path / "d.csv", TABLE, delimiter=",", header="position,b,c,d,e", comments="", fmt="%.3f")
    write_shards(tmp_path / "m", {"pos_embed": TABLE}, {"a": TABLE})
    index = tmp_path / "m" / "model.safetensors.index.json"
    originals = {path: path.read_bytes() for path in [*tmp_path.glob("?.*"), index]}
    assert len(originals) == 5
    outcomes = {True: 0, False: 0}
    for path, original in originals.items():
        generator = random.Random(path.name)
        for number in range(400):
            path.write_bytes(mutate(original, generator))
            found = call_within(1, lambda path=path: read_or_refuse(path))
            refused = isinstance(found, PeSpectraError)
            outcomes[not refused] += 1
            if refused:
                assert "allow_pickle" not in str(found), (path.name, number)
                assert len(str(found)) < 1000, (path.name, number)
            else:
                assert np.isfinite(found.values).all(), (path.name, number)
        path.write_bytes(original)
    # a run that only ever refuses, or never does, tests nothing
    assert min(outcomes.values()) > 50, outcomes


def test_memory_stays_bounded_when_headers_claim_much(tmp_path):
    claims = [
        ("a.npy", npy_header("{" + HEAD + "(8192, 8192)}", data=bytes(16))),
        ("b.safetensors", pack({"a": entry((8192, 8192), 0, 8192 * 8192 * 4)}, bytes(16))),
        ("c.npz", None),
    ]
    zip_members(tmp_path / "c.npz", [("a.npy", claims[0][1])])
    for name, data in claims:
        path = write(tmp_path / name, data) if data else tmp_path / name
        tracemalloc.start()
        assert "is cut off" in refuse(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 << 20


def test_a_file_that_shrinks_while_it_is_read_is_our_error(tmp_path, monkeypatch):
    path = tmp_path / "t.safetensors"
    save_file({"a": TABLE}, path)
    whole = safetensors_file.read_entries

    def cut(file):
        found = whole(file)
        os.truncate(path, path.stat().st_size - 1)
        return found

    monkeypatch.setattr(safetensors_file, "read_entries", cut)
    assert "ends before its data do" in refuse(path)


def test_an_archive_that_promises_a_comment_and_ends_is_not_complete(tmp_path):
    """The library would take the archive as it is: what was cut off behind it is not missed."""
    path = zip_members(tmp_path / "a.npz", [("a.npy", npy_bytes(TABLE))])
    data = path.read_bytes()
    path.write_bytes(data[:-2] + b"\x05\x00")
    with pytest.raises(FileError, match="is no complete zip archive"):
        read_array(path)
