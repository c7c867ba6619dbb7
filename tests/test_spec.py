"""The text that names an encoding, and what becomes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.encodings import ENCODINGS, DfsTrans, Dft, Sinusoidal
from pe_spectra.encodings.parameters import format_value
from pe_spectra.errors import FileError, InputError, PeSpectraError
from pe_spectra.sources import build_encodings
from pe_spectra.spec import FILE_EXTENSIONS, FileSpec, NamedSpec, parse_spec

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


@pytest.mark.parametrize("cls", ENCODINGS)
def test_a_bare_name_has_the_defaults(cls):
    assert build_encodings([cls.name], {}) == (cls(),)


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


def test_a_file_that_exists_is_refused_with_what_is_accepted(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"x")
    with pytest.raises(InputError) as caught:
        build_encodings([str(tmp_path / "a.npy")], {})
    assert "reads no tables" in str(caught.value)
    with pytest.raises(FileError):
        build_encodings([str(tmp_path / "b.npy")], {})
