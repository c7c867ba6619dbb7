"""The text that names an encoding, read without a look at what it names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.errors import InputError
from pe_spectra.spec import FILE_EXTENSIONS, FileSpec, NamedSpec, parse_spec, split_list
from tests.refusing import catch

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
BARE = st.text('aZ09+-.:/ \t\n\\"\xe9\u202e', min_size=1, max_size=8)
ANY = st.text("a0,=':+ \n\\\"\xe9", min_size=1, max_size=8)


def refuse(text):
    return catch(parse_spec, text, kind=InputError)


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


# ----------------------------------------------------------------------------------- single values


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("UP.NPY", "; ./UP.NPY names a file"),
        ("a::b.npy", "; FILE::TENSOR has :: behind a file's ending"),
        ("UP.NPY::x", ""),
        ("nothing at all", ""),
    ],
)
def test_a_spec_that_may_be_a_file(text, hint):
    with pytest.raises(InputError) as caught:
        parse_spec(text, "SPEC")
    assert str(caught.value) == f"SPEC is not known ({text}); NAME, NAME:key=value,.. or a file is accepted{hint}"
    assert isinstance(parse_spec("./UP.NPY"), FileSpec)
