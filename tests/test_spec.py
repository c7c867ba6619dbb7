"""The text that names an encoding, and what becomes of it."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pe_spectra.encodings import ENCODINGS, DfsTrans, Dft, Sinusoidal
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.parameters import format_value
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import FileError, InputError, PeSpectraError
from pe_spectra.sources import build_encodings
from pe_spectra.spec import FILE_EXTENSIONS, FileSpec, NamedSpec, parse_spec, split_list

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
BARE = st.text('aZ09+-.:/ \t\n\\"\xe9\u202e', min_size=1, max_size=8)
ANY = st.text("a0,=':+ \n\\\"\xe9", min_size=1, max_size=8)


def refuse(text):
    with pytest.raises(InputError) as caught:
        parse_spec(text)
    return str(caught.value)


# ----------------------------------------------------------------------------------- reading


@given(NAMES, st.dictionaries(KEYS, BARE, max_size=4))
def test_bare_values_are_read_back(name, parameters):
    rest = ",".join(f"{key}={value}" for key, value in parameters.items())
    spec = parse_spec(f"{name}:{rest}" if rest else name)
    assert spec == NamedSpec(text=spec.text, name=name, parameters=tuple(parameters.items()))


@given(NAMES, st.dictionaries(KEYS, ANY, min_size=1, max_size=4))
def test_quoted_values_hold_anything(name, parameters):
    rest = ",".join("{}='{}'".format(key, value.replace("'", "''")) for key, value in parameters.items())
    assert parse_spec(f"{name}:{rest}").parameters == tuple(parameters.items())


@given(st.text("adft:=,'+/.~ 0\n\xe9", max_size=20))
def test_any_text_is_read_or_refused(text):
    given, message = None, ""
    try:
        given = parse_spec(text).text
    except InputError as error:
        message = str(error)
    assert given == text or message.startswith("--encoding")


@pytest.mark.parametrize(
    ("text", "path", "tensor"),
    [
        ("a.npy", "a.npy", None),
        ("./sinusoidal", "./sinusoidal", None),
        ("folder/", "folder/", None),
        ("~x", "~x", None),
        ("m.safetensors::pos_embed", "m.safetensors", "pos_embed"),
        ("./m::a::b", "./m::a", "b"),
        ("./a:d=4", "./a:d=4", None),
        ("a:b.npy", "a:b.npy", None),
    ],
)
def test_files(text, path, tensor):
    assert parse_spec(text) == FileSpec(text=text, path=path, tensor=tensor)


@pytest.mark.parametrize(
    ("text", "path", "tensor", "parameters"),
    [
        (
            "model.safetensors::pos_embed?grid=14x14,prefix=1",
            "model.safetensors",
            "pos_embed",
            (("grid", "14x14"), ("prefix", "1")),
        ),
        ("table.npy?grid=2x8", "table.npy", None, (("grid", "2x8"),)),
        ("table.npy?rows=1:", "table.npy", None, (("rows", "1:"),)),
        ("table.npy?rows='1:5',grid='2x2'", "table.npy", None, (("rows", "1:5"), ("grid", "2x2"))),
        ("./a?b.npy?grid=2x8", "./a?b.npy", None, (("grid", "2x8"),)),
        ("./m::why?::x?rows=:4", "./m::why?", "x", (("rows", ":4"),)),
        # a question mark without key= after it is part of a name
        ("./a?", "./a?", None, ()),
        ("./a?b.npy", "./a?b.npy", None, ()),
        ("what?.npy", "what?.npy", None, ()),
        ("./a?grid", "./a?grid", None, ()),
        ("./a?Grid=4", "./a?Grid=4", None, ()),
        ("./a?=4", "./a?=4", None, ()),
        ("m.npz::x?", "m.npz", "x?", ()),
        ("folder/?prefix=1", "folder/", None, (("prefix", "1"),)),
    ],
)
def test_files_with_keys_after_a_question_mark(text, path, tensor, parameters):
    assert parse_spec(text) == FileSpec(text=text, path=path, tensor=tensor, parameters=parameters)


@given(st.dictionaries(KEYS, ANY, min_size=1, max_size=3), st.sampled_from([None, "pos", "a.b"]))
def test_keys_of_files_are_read_as_those_of_names_are(parameters, tensor):
    rest = ",".join("{}='{}'".format(key, value.replace("'", "''")) for key, value in parameters.items())
    place = "a.npy" if tensor is None else f"a.npy::{tensor}"
    assert parse_spec(f"{place}?{rest}") == FileSpec(
        text=f"{place}?{rest}", path="a.npy", tensor=tensor, parameters=tuple(parameters.items())
    )


@pytest.mark.parametrize(
    ("raw", "members"),
    [
        ("sinusoidal", ["sinusoidal"]),
        ("sinusoidal+dft", ["sinusoidal", "dft"]),
        ("'rope:d=64,base=5e5'+sinusoidal", ["rope:d=64,base=5e5", "sinusoidal"]),
        ("sinusoidal+'rope:d=64,base=5e+5'", ["sinusoidal", "rope:d=64,base=5e+5"]),
        ("'a''b'+'+'", ["a'b", "+"]),
        ("'hybrid:of=''rope:d=8''+dft'", ["hybrid:of='rope:d=8'+dft"]),
        ("'a+b'", ["a+b"]),
    ],
)
def test_lists_are_split_at_a_plus_outside_quotes(raw, members):
    assert split_list(raw) == members


@given(st.lists(ANY, min_size=1, max_size=4))
def test_quoted_members_of_a_list_hold_anything(members):
    typed = "+".join("'{}'".format(member.replace("'", "''")) for member in members)
    spec = parse_spec(f"hybrid:of={typed}")
    assert split_list(dict(spec.raw)["of"]) == members


def test_a_quoted_member_keeps_its_quotes_until_the_list_is_split():
    spec = parse_spec("hybrid:of='rope:d=64,base=5e5'+sinusoidal,weights=0.5+0.5")
    assert spec.parameters == (("of", "'rope:d=64,base=5e5'+sinusoidal"), ("weights", "0.5+0.5"))
    single = parse_spec("hybrid:of='rope:d=64,base=5e5'")
    assert single.parameters == (("of", "rope:d=64,base=5e5"),)
    assert single.raw == (("of", "'rope:d=64,base=5e5'"),)


@pytest.mark.parametrize("extension", FILE_EXTENSIONS)
def test_known_extensions(extension):
    assert isinstance(parse_spec(f"Table{extension}"), FileSpec)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not known ('')"),
        ("Sinusoidal", "is not known (Sinusoidal)"),
        ("sinusoidal:", "is not known"),
        ("sinusoidal:64", "is not known"),
        ("9lives", "is not known"),
        ("::x", "names no file or no tensor"),
        ("a.npy::", "names no file or no tensor"),
        ("sinusoidal:d=", "key d has no value"),
        ("sinusoidal:d=,rho=5", "key d has no value"),
        ("sinusoidal:d=4,d=4", "key d is given twice (4)"),
        ("sinusoidal:d=4,rho", "not a key with a value (rho)"),
        ("sinusoidal:d=4,=5", "not a key with a value"),
        ("sinusoidal:d=4,Rho=5", "not a key with a value (Rho)"),
        ("sinusoidal:d='4", "a quote is left open"),
        ("sinusoidal:d='4'5", "a quote is left open"),
        ("hybrid:of='dft", "a quote is left open"),
        ("hybrid:of=dft+'dft", "a quote is left open"),
        ("hybrid:of=dft=4", "value of of is not readable"),
        ("hybrid:of='rope:d=64,base=5e5'+sinusoidal:d=64", "each with a , or = needs quotes of its own"),
        ("hybrid:of=rope:d=64,base=5e5+sinusoidal", "each with a , or = needs quotes of its own"),
        ("hybrid:of=rope:d=64,base=5e5+sinusoidal", "value of of is not readable (rope:d=64,base=5e5+sinusoidal)"),
        ("hybrid:of=rope:d=64,base=5e5", "in a shell, the whole SPEC in double quotes"),
        ("sinusoidal:d=4=5", "values without , = ' or in quotes, '...'; in a shell"),
        ("?grid=4", "is not known"),
        ("a.npy::?grid=2x2", "names no file or no tensor"),
        ("a.npy?grid=", "--encoding a.npy: key grid has no value"),
        ("a.npy?grid=2x2,grid=2x2", "--encoding a.npy: key grid is given twice (2x2)"),
        ("a.npy::x?grid=2x2,rows", "--encoding a.npy::x: not a key with a value (rows)"),
        ("a.npy?grid='2x2", "a quote is left open"),
    ],
)
def test_refused(text, words):
    assert words in refuse(text)


@pytest.mark.parametrize("text", ["sinusoidal:d=4,", "dft:d=4,,", "sinusoidal:d='4',"])
def test_a_comma_at_the_end_is_refused(text):
    assert "not a key with a value" in refuse(text)


def test_a_plus_joins_the_members_of_a_list_not_keys():
    refuse("sinusoidal:d='4'+rho='5'")


@pytest.mark.parametrize("text", ["sinusoidal:d=4=5", "sinusoidal:layout=a'b"])
def test_bare_values_hold_neither_equals_nor_quote(text):
    with pytest.raises(InputError):
        parse_spec(text)


# ----------------------------------------------------------------------------------- building


@pytest.mark.parametrize("cls", [cls for cls in ENCODINGS if cls is not Learned], ids=lambda cls: cls.name)
def test_a_bare_name_has_the_defaults(cls):
    assert build_encodings([cls.name], {}) == (cls(),)


def test_learned_alone_is_told_what_it_needs():
    """The one encoding that is nothing without numbers, or the word that they be drawn."""
    with pytest.raises(InputError, match="init=normal for an untrained one"):
        build_encodings(["learned"], {})
    assert build_encodings(["learned:init=normal"], {}) == (Learned(init="normal"),)
    assert build_encodings(["learned:init=normal"], {"d": ["6"]}) == (Learned(init="normal", width=6),)


@given(
    st.integers(min_value=2, max_value=1 << 20),
    st.floats(min_value=1e-6, max_value=1e300),
    st.sampled_from(["interleaved", "concatenated"]),
)
def test_parameters_are_typed_again_without_loss(d, rho, layout):
    encoding = Sinusoidal(d=d, rho=rho, layout=layout)
    text = ",".join(f"{name}={format_value(value)}" for name, value in encoding.parameters.items())
    assert build_encodings([f"sinusoidal:{text}"], {}) == (encoding,)


def test_options_fill_what_is_open():
    assert build_encodings(["sinusoidal:d=4", "dft"], {"d": ["4"], "rho": ["5"]}) == (
        Sinusoidal(d=4, rho=5.0),
        Dft(d=4),
    )
    assert build_encodings(["dft", "dfstrans:d=6"], {}) == (Dft(), DfsTrans(d=6))
    found = build_encodings(["sinusoidal"], {"d": ["4", "6"], "rho": ["1", "2"]})
    assert [(e.d, e.rho) for e in found] == [(4, 1.0), (4, 2.0), (6, 1.0), (6, 2.0)]


def test_the_same_encoding_is_built_once():
    assert build_encodings(["dft", "dft:d=256", "dft"], {"d": ["256"]}) == (Dft(),)


def test_equal_numbers_in_other_words_are_no_contradiction():
    assert build_encodings(["sinusoidal:rho=1e4,d=064"], {"rho": ["10000.0"], "d": ["64"]}) == (Sinusoidal(d=64),)


@pytest.mark.parametrize(
    ("specs", "given", "words"),
    [
        (["sinusoidal:d=4"], {"d": ["5"]}, "--d contradicts sinusoidal:d=4 (5)"),
        (["dft"], {"rho": ["5"]}, "--rho has no meaning for dft (5)"),
        (["sinusoidl"], {}, "did you mean sinusoidal?"),
        (["sinusoidal:rhoo=5"], {}, "key is not known (rhoo); did you mean rho?"),
        (["dft:layout=interleaved"], {}, "key is not known (layout)"),
        (["sinusoidal:d=1"], {}, "--encoding sinusoidal: d is out of range (1)"),
        (["sinusoidal:rho=nan"], {}, "--encoding sinusoidal: rho is not a number (nan)"),
        (["sinusoidal:layout=mixed"], {}, "accepted: interleaved, concatenated"),
        (["sinusoidal"], {"d": ["x"]}, "--d is not an integer (x)"),
        (["dfstrans:d=5"], {}, "an even d"),
        (["./none.npy"], {}, "no such file"),
    ],
)
def test_refused_encodings(specs, given, words):
    with pytest.raises(PeSpectraError) as caught:
        build_encodings(specs, given)
    assert words in str(caught.value)


def test_nested_encodings():
    text = "hybrid:of='rope:d=64,base=5e5'+'sinusoidal:d=64',weights=0.5+0.5"
    expected = Hybrid(of=(Rope(d=64, base=5e5), Sinusoidal(d=64)), weights=(0.5, 0.5))
    assert build_encodings([text], {}) == (expected,)
    assert build_encodings([expected.spec], {}) == (expected,)
    plain = build_encodings(["hybrid:of=sinusoidal+dft,mode=concat"], {})
    assert plain == (Hybrid(of=(Sinusoidal(), Dft()), mode="concat"),)
    assert build_encodings(["hybrid:of='sinusoidal:rho=1e+3'"], {}) == (Hybrid(of=(Sinusoidal(rho=1e3),)),)
    assert build_encodings(["hybrid:of=dft,weights=1e+0"], {}) == (Hybrid(of=(Dft(),), weights=(1.0,)),)


def test_hybrids_of_hybrids_end_somewhere():
    encoding = Dft(d=2)
    for _ in range(8):
        encoding = Hybrid(of=(encoding,))
    assert build_encodings([encoding.spec], {}) == (encoding,)
    with pytest.raises(InputError, match="nests too deep"):
        build_encodings([Hybrid(of=(encoding,)).spec], {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hybrid:of=sinusoidl", "--encoding hybrid: of is not known (sinusoidl); did you mean sinusoidal?"),
        ("hybrid:of='rope:d=7'", "rope: d is odd (7)"),
        ("hybrid:of='rope:dd=7'", "--encoding hybrid: of rope: key is not known (dd)"),
        ("hybrid:of='sinusoidal:d=4'+'dft:d=6'", "different widths"),
        ("hybrid:of=dft+dft,weights=1", "weights are not as many"),
        ("hybrid:of=dft+dft,weights=1+x", "--encoding hybrid: weights is not a number (x)"),
        ("hybrid:of=alibi", "without a table (alibi)"),
        ("hybrid:of=./none.npy", "no such file"),
        ("t5:table=./none.npy", "no such file"),
        ("alibi:heads=4,head=4", "alibi: head is out of range (4)"),
        ("rope:scaling=linear", "rope: factor is not set"),
        ("rope:factor=4", "rope: factor has no meaning here (4); it goes with scaling=linear"),
        ("calendar:fields=hour+year", "--encoding calendar: fields is not known (year)"),
    ],
)
def test_refused_values(text, words):
    with pytest.raises(PeSpectraError) as caught:
        build_encodings([text], {})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


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
        (["table.npy"], {"d": ["3"]}, "d contradicts the table (3)"),
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
