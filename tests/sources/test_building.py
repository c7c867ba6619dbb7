"""From a SPEC to an encoding: defaults, options that fill what is open, nesting, and refused values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.encodings import ENCODINGS, DfsTrans, Dft, Sinusoidal
from pe_spectra.encodings.calendar import Calendar
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.parameters import YES_NO, format_value
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.sources import build_encodings, has_option
from tests.making import make_encoding

# ----------------------------------------------------------------------------------- building


@pytest.mark.parametrize("cls", [cls for cls in ENCODINGS if cls is not Learned], ids=lambda cls: cls.name)
def test_a_bare_name_has_the_defaults(cls):
    assert build_encodings([cls.name], {}) == (cls(),)


def test_learned_alone_is_told_what_it_needs():
    """The one encoding that is nothing without numbers, or the word that they be drawn."""
    with pytest.raises(InputError, match="init=normal for an untrained one"):
        build_encodings(["learned"], {})
    assert build_encodings(["learned:init=normal"], {}) == (Learned(init="normal"),)
    assert build_encodings(["learned:init=normal"], {"d": ["6"]}) == (Learned(init="normal", d=6),)


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


@pytest.mark.slow
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


# ----------------------------------------------------------------------------------- times


def test_which_encodings_take_an_option():
    assert has_option(["dft", "calendar"], "step")
    assert not has_option(["dft", "table.npy"], "step")
    assert has_option(["table.npy"], "rows")
    assert not has_option([], "step")
    with pytest.raises(InputError, match="SPEC is not known"):
        has_option(["no such"], "step", "SPEC")


# ----------------------------------------------------------------------------------- too much of one thing


def test_options_that_list_too_many_encodings_name_the_one_that_exceeds(empty_folder):
    sizes, rhos = [str(2 * i) for i in range(1, 65)], [str(10 + i) for i in range(65)]
    with pytest.raises(InputError, match=r"--rho asks for too many encodings \(64 x 65\); at most 4096"):
        build_encodings(["sinusoidal"], {"d": sizes, "rho": rhos})
    assert len(build_encodings(["sinusoidal"], {"d": sizes, "rho": rhos[:64]})) == 4096


@pytest.mark.parametrize("command", ["spectrum --grid 64", "faithfulness --length 8", "compare --length 8"])
def test_a_command_takes_256_encodings(refuse, command):
    specs = [f"sinusoidal:d={2 * i}" for i in range(1, 258)]
    name, *options = command.split()
    start = f"{name} {' '.join(specs)}" if name == "compare" else f"{name} -e {' '.join(specs)}"
    line = refuse(f"{start} {' '.join(options)} --no-figure")
    assert line == "too many encodings for one command (257); at most 256"


#: What a yes/no parameter needs beside it to have a meaning.
BESIDE = {("rope", "truncate"): "d=64,scaling=yarn,factor=4,original=2048,"}


def test_every_yes_or_no_of_the_catalogue_is_read_in_every_spelling():
    found = [(cls.name, p.name) for cls in ENCODINGS for p in cls.accepts if p.accepts is YES_NO]
    assert {("t5", "bidirectional"), ("calendar", "timestamp"), ("alibi", "causal"), ("rope", "truncate")} <= set(found)
    for name, key in found:
        for meant, others in {"yes": ("true", "1"), "no": ("false", "0")}.items():
            start = f"{name}:{BESIDE.get((name, key), '')}{key}"
            encoding = make_encoding(f"{start}={meant}")
            for typed in others:
                assert make_encoding(f"{start}={typed}") == encoding
                assert make_encoding(f"{start}={typed}").spec == encoding.spec


def test_a_parameter_that_hangs_on_a_yes_takes_any_spelling_of_it():
    spelled = make_encoding("calendar:timestamp=1,timestamp_d=32")
    assert spelled == make_encoding("calendar:timestamp=yes,timestamp_d=32") == Calendar(timestamp=True, timestamp_d=32)


def test_the_time_of_a_position_reaches_the_members_of_a_hybrid():
    text = "hybrid:of='calendar:fields=hour'+'hybrid:of=periods+dft,mode=concat',mode=concat"
    (built,) = build_encodings([text], {"step": ["30min"]})
    calendar, inner = built.of
    assert (calendar.step, inner.of[0].step) == ("30min", "30min")
    assert has_option([text], "step")
    assert has_option([text], "start")
    assert not has_option([text], "rows")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hybrid:of='dft:d=4'+'ramp:d=4'", "--step has no meaning for hybrid (30min)"),
        ("hybrid:of='calendar:step=1h'+'dft:d=8'", "--step contradicts calendar:step=1h (30min)"),
    ],
)
def test_a_time_that_no_member_takes_is_refused(text, words):
    with pytest.raises(PeSpectraError) as caught:
        build_encodings([text], {"step": ["30min"]})
    assert words in str(caught.value)
