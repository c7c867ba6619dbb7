"""SPECs that name files: which rows, which widths, and what files cannot give."""

import json
import struct

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from pe_spectra import GivenArray, Learned
from pe_spectra.errors import FileError, InputError, PeSpectraError
from pe_spectra.sources import build_encodings, read_encoding

# ----------------------------------------------------------------------------------- files


TABLE = np.arange(34.0).reshape(17, 2) ** 1.5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with one table in three forms, and a table of biases."""
    monkeypatch.chdir(tmp_path)
    np.save("table.npy", TABLE)
    np.save("a?b.npy", TABLE)
    np.savez("both.npz", pos=TABLE, other=TABLE[:5])
    np.save("column.npy", np.arange(32.0)[:, None])
    (tmp_path / "bad.npy").write_bytes(b"x")
    data = TABLE.astype("<f4").tobytes()
    header = json.dumps({"pos_embed": {"dtype": "F32", "shape": [1, 17, 2], "data_offsets": [0, len(data)]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "codes", "shape"),
    [
        ("table.npy", TABLE, None),
        ("./a?b.npy", TABLE, None),
        ("./a?b.npy?rows=2:5", TABLE[2:5], None),
        ("table.npy?rows=1:", TABLE[1:], None),
        ("table.npy?rows=:4", TABLE[:4], None),
        ("table.npy?prefix=1,grid=2x8", TABLE[1:], (2, 8)),
        ("table.npy?rows=1:,grid=8x2", TABLE[1:], (8, 2)),
        ("table.npy?rows=0:9,prefix=1,grid=2x4", TABLE[1:9], (2, 4)),
        ("both.npz::pos", TABLE, None),
        ("both.npz::other?rows=1:3", TABLE[1:3], None),
        ("model.safetensors::pos_embed?grid=4x4,prefix=1", TABLE[1:].astype(np.float32), (4, 4)),
        ("learned:table=table.npy,first=3,last=7", TABLE[3:7], None),
        ("learned:table=both.npz::other,prefix=1,grid=2x2", TABLE[1:5], (2, 2)),
    ],
)
def test_tables_from_files(text, codes, shape):
    [encoding] = build_encodings([text], {})
    assert isinstance(encoding, Learned)
    assert_array_equal(encoding.table(len(codes)), codes)
    assert encoding.rows == len(codes)
    assert encoding.shape == shape
    assert not encoding.is_random
    assert build_encodings([encoding.spec], {}) == (encoding,)


@pytest.mark.usefixtures("folder")
def test_numbers_of_other_encodings_from_files():
    [encoding] = build_encodings(["t5:table=./column.npy,bidirectional=no"], {})
    assert_array_equal(encoding.bias([0, 1, 2]), [[0.0, 1.0, 2.0]])
    assert build_encodings([encoding.spec], {}) == (encoding,)
    [mix] = build_encodings(["hybrid:of=table.npy+'sinusoidal:d=2',mode=concat"], {})
    assert_array_equal(mix.table(17)[:, :2], TABLE)
    assert build_encodings([mix.spec], {}) == (mix,)


@pytest.mark.usefixtures("folder")
def test_rows_may_be_an_option():
    [encoding] = build_encodings(["table.npy"], {"rows": ["2:6"]})
    assert_array_equal(encoding.table(4), TABLE[2:6])
    assert build_encodings(["table.npy?rows=2:6"], {"rows": ["2:6"]}) == (encoding,)
    assert build_encodings(["table.npy?rows=2:6"], {}) == (encoding,)
    assert [e.rows for e in build_encodings(["table.npy", "dft"], {"rows": [":3"]})] == [3, None]
    assert build_encodings(["table.npy"], {"d": ["2"]}) == build_encodings(["table.npy"], {})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("specs", "given", "words"),
    [
        (["table.npy?rows=2:6"], {"rows": ["2:7"]}, "--rows contradicts table.npy?rows=2:6 (2:7)"),
        (["dft"], {"rows": ["2:6"]}, "--rows has no meaning for dft (2:6)"),
        (["table.npy"], {"rho": ["2"]}, "--rho has no meaning for learned (2)"),
        (["table.npy"], {"d": ["3"]}, "d contradicts the given values (3)"),
        (["table.npy"], {"rows": ["5"]}, "--rows is no range of rows (5)"),
        (["table.npy"], {"rows": [":"]}, "--rows is no range of rows (:)"),
        (["table.npy"], {"rows": ["a:5"]}, "--rows is not an integer (a)"),
        (["table.npy"], {"rows": ["6:2"]}, "rows are not in the table (6:2)"),
        (["table.npy"], {"rows": ["6:6"]}, "rows are not in the table (6:6)"),
        (["table.npy"], {"rows": ["0:18"]}, "rows are not in the table (0:18)"),
        (["table.npy?rows=-1:4"], {}, "--encoding table.npy: rows is out of range (-1)"),
        (["table.npy?grid=2x8"], {}, "grid does not fit the rows (2x8)"),
        (["table.npy?grid=17"], {}, "grid is no size of a grid (17)"),
        (["table.npy?prefix=17"], {}, "prefix leaves no row (17)"),
        (["table.npy?prefx=1"], {}, "--encoding table.npy: key is not known (prefx); did you mean prefix?"),
        (["table.npy?d=2"], {}, "--encoding table.npy: key is not known (d)"),
        (["table.npy?table=x"], {}, "key is not known (table)"),
        (["both.npz::none"], {}, "none"),
        (["bad.npy"], {}, "bad.npy: does not begin as a .npy file does"),
        (["none.npy"], {}, "none.npy: no such file"),
        (["none.npy?rows=1:"], {}, "none.npy: no such file"),
        (["none.npz::x?grid=2x2"], {}, "none.npz: no such file"),
        (["./none/"], {}, "no such"),
    ],
)
def test_what_files_cannot_give_is_refused(specs, given, words):
    with pytest.raises(PeSpectraError) as caught:
        build_encodings(specs, given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("text", ["bad.npy", "none.npy", "./none"])
def test_what_is_wrong_with_a_file_is_a_file_error(text):
    with pytest.raises(FileError):
        build_encodings([text], {})


def test_a_label_names_the_option_that_is_wrong():
    for spec in ("sinusoidl", "sinusoidal:dd=4", "sinusoidal:d=x", "none.npy", "hybrid:of=sinusoidl"):
        with pytest.raises(PeSpectraError, match="--other"):
            build_encodings([spec], {}, label="--other")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("mtan:mode=learned,d=8", "mtan-learned d=8"),
        ("mtan:mode=fixed,d=8", "mtan d=8"),
        ("rope:scaling=axial,d=16,height=2,width=3", "rope-axial d=16 height=2 width=3"),
    ],
)
def test_a_variant_may_be_named_by_a_key_of_its_relative(text, label):
    assert build_encodings([text], {})[0].label == label


T5 = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"


def save(name, tensor, shape, seed=0):
    """Write one tensor of random numbers, and give them."""
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    save_file({tensor: values}, name)
    return values


# -------------------------------------------------------------------------------- tables whose names tell what they are


@pytest.mark.parametrize(
    ("tensor", "shape", "name", "parameters"),
    [
        (T5, (32, 8), "t5", {"heads": 8, "buckets": 32}),
        ("layers.0.blocks.0.attn.relative_position_bias_table", (169, 3), "swin", {"heads": 3, "window": 7}),
    ],
)
def test_a_table_of_biases_becomes_the_encoding_that_it_belongs_to(empty_folder, tensor, shape, name, parameters):
    values = save("bias.safetensors", tensor, shape)
    encoding = read_encoding("bias.safetensors")
    assert encoding.name == name
    assert {key: getattr(encoding, key) for key in parameters} == parameters
    assert np.array_equal(encoding.values.values, values.astype(np.float64))
    assert read_encoding(encoding.spec) == encoding


@pytest.mark.parametrize("options", [{}, {"rows": ["0:9"]}])
def test_a_table_of_biases_has_no_rows_to_choose(empty_folder, options):
    save("bias.safetensors", T5, (32, 8))
    spec = "bias.safetensors" if options else "bias.safetensors?rows=0:9"
    with pytest.raises(InputError, match="a table of biases has no rows to choose") as caught:
        build_encodings([spec], options)
    assert (caught.value.given, caught.value.accepted) == (spec, "leave it out")


def test_rows_before_position_0_are_left_out_unless_asked_for(empty_folder):
    values = save("opt.safetensors", "decoder.embed_positions.weight", (66, 8)).astype(np.float64)
    encoding = read_encoding("opt.safetensors")
    assert encoding.spec.endswith("?prefix=2")
    assert np.array_equal(encoding.table(64), values[2:])
    assert np.array_equal(read_encoding("opt.safetensors?prefix=5").table(61), values[5:])
    assert np.array_equal(read_encoding("opt.safetensors?rows=0:9").table(9), values[:9])


# ----------------------------------------------------------------------------------- files by name


def test_an_array_without_a_file_keeps_its_class():
    with pytest.raises(InputError, match=r"^learned: prefix leaves no row \(2\)"):
        Learned(values=GivenArray([[1.0], [2.0]]), prefix=2)
