"""Numbers and lists from outside: spelling, range, and which words a refusal has."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LIST
from pe_spectra.numbers import Choice, IntegerRange, RealRange, YesNo, parse_integers, parse_list, quote

LATTICE = IntegerRange(minimum=0, maximum=255)
ANY_INTEGER = IntegerRange(minimum=-(10**30), maximum=10**30)
ANY_REAL = RealRange(minimum=-1.7e308, maximum=1.7e308)
POSITIVE = RealRange(minimum=1e-6, maximum=1e300)

#: Python's int and float take each of these.
NO_NUMBERS = ["", " 5", "5 ", "2_56", "٣", "５", "nan", "inf", "-inf", "Infinity", "1e", "--5", "+-5", "\n5", "5\n"]


def refusal(parse, *arguments):
    with pytest.raises(InputError) as caught:
        parse(*arguments)
    text = str(caught.value)
    assert "\n" not in text.replace("\n5", "").replace("5\n", "")
    return text


# ----------------------------------------------------------------------------------- one number


@given(st.integers(min_value=-(10**29), max_value=10**29))
def test_integers_are_read_back(value):
    assert ANY_INTEGER.parse(str(value), "--d") == value
    assert ANY_INTEGER.parse(f"{value:+d}", "--d") == value
    sign = "-" if value < 0 else ""
    assert ANY_INTEGER.parse(f"{sign}000{abs(value)}", "--d") == value


@given(st.floats(min_value=-1.7e308, max_value=1.7e308))
def test_reals_are_read_back(value):
    for text in (repr(value), f"{value:.17e}", f"{value:+.17E}"):
        assert ANY_REAL.parse(text, "--rho") == value


@pytest.mark.parametrize("text", ["4.", ".5", "1e4", "1E+4", "+3", "00.10", "5"])
def test_spellings_of_reals(text):
    assert POSITIVE.parse(text, "--rho") == float(text)


@pytest.mark.parametrize("text", [*NO_NUMBERS, ".", "0x10", "1,5", "1e5.0", "ten", "1e1e1"])
def test_what_is_no_real(text):
    assert "--rho is not a number" in refusal(POSITIVE.parse, text, "--rho")


@pytest.mark.parametrize("text", [*NO_NUMBERS, "256.0", "1e3", "0x10", "ten", "²", "5L"])
def test_what_is_no_integer(text):
    assert "--d is not an integer" in refusal(LATTICE.parse, text, "--d")


@given(st.text("0123456789+-.eE_ xinfa:,\n\t\0\u0663\uff15\xb2\ud800", max_size=12))
def test_any_text_is_a_number_or_our_own_error(text):
    for bounds in (LATTICE, POSITIVE):
        value, message = None, ""
        try:
            value = bounds.parse(text, "--x")
        except InputError as error:
            message = str(error)
        if value is None:
            assert message.startswith("--x is ")
            assert bounds.accepted in message
        else:
            assert bounds.minimum <= value <= bounds.maximum
            assert math.isfinite(value)
            assert text.isascii()


@given(st.integers(min_value=-50, max_value=350))
@example(-1)
@example(0)
@example(255)
@example(256)
def test_both_ends_of_a_range_belong_to_it(value):
    if 0 <= value <= 255:
        assert LATTICE.parse(str(value), "--s") == value
    else:
        text = refusal(LATTICE.parse, str(value), "--s")
        assert text == f"--s is out of range ({value}); an integer from 0 to 255 is accepted"


def test_both_ends_of_a_real_range_belong_to_it():
    assert POSITIVE.parse("1e-6", "--rho") == 1e-6
    assert POSITIVE.parse("1e300", "--rho") == 1e300
    for text in ("9.99e-7", "1.01e300", "1e400", "-1", "0", "1e-400"):
        assert "out of range" in refusal(POSITIVE.parse, text, "--rho")


@pytest.mark.parametrize("text", ["9" * 5000, "-" + "9" * 5000, "1e" + "9" * 5000, "0." + "3" * 5000 + "x"])
def test_long_digits_are_neither_converted_nor_echoed(text):
    for bounds in (LATTICE, POSITIVE):
        message = refusal(bounds.parse, text, "--d")
        assert len(message) < 250
        assert "characters)" in message


def test_zeros_in_front_are_no_digits_of_the_value():
    assert LATTICE.parse("0" * 5000 + "7", "--s") == 7


def test_choice_and_quote():
    boundary = Choice(members=("none", "reflect"))
    assert boundary.parse("reflect", "--boundary") == "reflect"
    for text in ("", "None", " none", "mirror"):
        assert refusal(boundary.parse, text, "--boundary").endswith("accepted: none, reflect")
    assert quote("") == "''"
    assert quote("a") == "a"


# ----------------------------------------------------------------------------------- lists


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("yes", "yes"), ("true", "yes"), ("1", "yes"), ("no", "no"), ("false", "no"), ("0", "no"), ("True", "yes")],
)
def test_yes_and_no_in_every_spelling(typed, meant):
    assert YesNo().parse(typed, "causal") == meant


def test_yes_and_no_of_python():
    assert [YesNo().check(value, "causal") for value in (True, False, 1, 0, np.True_)] == [
        "yes",
        "no",
        "yes",
        "no",
        "yes",
    ]
    for value in ("", "y", "2", "-1", "on", None, 1.5, [True]):
        with pytest.raises(InputError, match=r"causal is not known .*accepted: no, yes, false, true, 0, 1"):
            YesNo().check(value, "causal")


@pytest.mark.parametrize(
    "texts",
    [
        ["5", "40", "75"],
        ["5,40,75"],
        ["5 40 75"],
        ["5,40", "75"],
        ["5 40,75"],
        ["5", "40,75"],
        ["5:6", "40:75:35", "75:76"],
        ["+5", "040", "75"],
        ["5", "40", "75", "5", "40"],
    ],
)
def test_spellings_of_a_list(texts):
    assert parse_integers(texts, "--s", LATTICE) == (5, 40, 75)


def test_ranges_are_half_open():
    assert parse_integers(["0:80:5"], "--s", LATTICE) == tuple(range(0, 80, 5))
    assert parse_integers(["3:4"], "--s", LATTICE) == (3,)
    assert parse_integers(["250:256"], "--s", LATTICE) == tuple(range(250, 256))
    assert parse_integers(["0:256:255"], "--s", LATTICE) == (0, 255)
    assert parse_integers(["40", "38:42"], "--s", LATTICE) == (40, 38, 39, 41)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "is not an integer (x)"),
        ("4.5", "is not an integer (4.5)"),
        ("", "has an empty place in its list ('')"),
        (" ", "has an empty place in its list"),
        ("5,,40", "has an empty place in its list (5,,40)"),
        ("5,", "has an empty place in its list (5,)"),
        (",5", "has an empty place in its list"),
        ("-1", "is out of range (-1)"),
        ("256", "is out of range (256)"),
        ("5:5", "is an empty range (5:5)"),
        ("9:5", "is an empty range (9:5)"),
        ("0:5:0", "step is out of range (0)"),
        ("5:0:-1", "step is out of range (-1)"),
        ("0:257", "is out of range (257)"),
        ("-3:5", "is out of range (-3)"),
        (":5", "is not a range (:5)"),
        ("5:", "is not a range (5:)"),
        ("1:2:3:4", "is not a range"),
        ("1:x", "is not a range (1:x)"),
        ("1.0:3", "is not a range"),
        ("0:99999999999999999999999", "is out of range"),
    ],
)
def test_refused_items_of_a_list(text, words):
    message = refusal(parse_integers, [text], "--s", LATTICE)
    assert message.startswith("--s")
    assert words in message
    assert refusal(parse_integers, ["5", text], "--s", LATTICE) == message


def test_a_range_is_checked_before_it_is_expanded():
    large = IntegerRange(minimum=0, maximum=10**12)
    assert "too many values" in refusal(parse_integers, ["0:1000000000000"], "--s", large)
    assert len(parse_integers([f"0:{MAX_LIST}"], "--s", large)) == MAX_LIST
    assert "too many values" in refusal(parse_integers, [f"0:{MAX_LIST}", f"{MAX_LIST}"], "--s", large)


def test_lists_of_reals():
    assert parse_list(["0.25 1,4", "1e1", "4.0"], "--bandwidth", POSITIVE.parse) == (0.25, 1.0, 4.0, 10.0)
    for text in ("1:3", "1,,2", "", "nan", "1 x"):
        assert refusal(parse_list, [text], "--bandwidth", POSITIVE.parse).startswith("--bandwidth")


@given(st.lists(st.integers(min_value=0, max_value=255), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_how_a_list_is_cut_does_not_matter(values, chance):
    text = "".join(str(value) + chance.choice([",", " ", "\0"]) for value in values)[:-1]
    assert parse_integers(text.split("\0"), "--s", LATTICE) == tuple(dict.fromkeys(values))


# ------------------------------------------------------------------------ options with several values, against argparse


@pytest.mark.parametrize("value", [True, False, "7", 7.0, None, math.nan])
def test_only_integers_of_python_are_integers(value):
    with pytest.raises(InputError, match="d is not an integer"):
        IntegerRange(minimum=0, maximum=9).check(value, "d")


@pytest.mark.parametrize("value", [True, "7", b"7", None, 7j])
def test_only_numbers_of_python_are_numbers(value):
    with pytest.raises(InputError, match="rho is not a number"):
        RealRange(minimum=0, maximum=9).check(value, "rho")


def test_the_step_of_a_range_is_at_least_1():
    bounds = IntegerRange(minimum=0, maximum=9)
    assert parse_integers(["0:3:1", "4:10:5"], "--s", bounds) == (0, 1, 2, 4, 9)
    assert "--s step is out of range (0)" in refusal(parse_integers, ["0:3:0"], "--s", bounds)


LENGTHS = IntegerRange(minimum=8, maximum=1 << 30)


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1M", "1000000 or 1048576"),
        ("32k", "32000 or 32768"),
        ("32K", "32000 or 32768"),
        ("1.5k", "1500 or 1536"),
        ("1G", "1000000000 or 1073741824"),
        ("131_072", "131072"),
        ("131,072", "131072"),
        ("2e3", "2000"),
        ("256.0", "256"),
        ("+2_0", "20"),
    ],
)
def test_the_integer_that_was_meant_is_written_out(text, hint):
    with pytest.raises(InputError) as caught:
        LENGTHS.parse(text, "--target")
    accepted = f"an integer from 8 to 1073741824 is accepted; write {hint}"
    assert str(caught.value) == f"--target is not an integer ({text}); {accepted}"


@pytest.mark.parametrize(
    "text",
    ["2.5", "5L", "2G", "1k1", "1,2", "13,10", "1__0", "_10", "1e400", "1e17", "7.0", "9" * 40 + "k", "-1k", "k"],
)
def test_nothing_is_guessed_that_would_be_refused(text):
    with pytest.raises(InputError) as caught:
        LENGTHS.parse(text, "--target")
    assert "write" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_base_in_millions_is_written_out_too():
    with pytest.raises(InputError, match=r"--base is not a number \(1M\); .*; write 1000000 or 1048576$"):
        RealRange(minimum=2, maximum=1e18).parse("1M", "--base")
