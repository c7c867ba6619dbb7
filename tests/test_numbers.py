"""Numbers and lists from outside: spelling, range, and which words a refusal has."""

import argparse
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.cli.arguments import _Rewriter
from pe_spectra.cli.program import build_command
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LIST
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange, parse_integers, parse_reals, quote

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
    assert parse_reals(["0.25 1,4", "1e1", "4.0"], "--bandwidth", POSITIVE) == (0.25, 1.0, 4.0, 10.0)
    for text in ("1:3", "1,,2", "", "nan", "1 x"):
        assert refusal(parse_reals, [text], "--bandwidth", POSITIVE).startswith("--bandwidth")


@given(st.lists(st.integers(min_value=0, max_value=255), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_how_a_list_is_cut_does_not_matter(values, chance):
    text = "".join(str(value) + chance.choice([",", " ", "\0"]) for value in values)[:-1]
    assert parse_integers(text.split("\0"), "--s", LATTICE) == tuple(dict.fromkeys(values))


# ------------------------------------------------------------- options with several values, against argparse

SEVERAL = {"--s": ("--s", "-s"), "--encoding": ("--encoding", "-e"), "--bandwidth": ("--bandwidth", "-b")}
SINGLE = {
    "--d": ("--d",),
    "--rho": ("--rho",),
    "--grid": ("--grid", "-N"),
    "--format": ("--format",),
    "--output": ("--output",),
}
FLAGS = {"--json": ("--json",), "--quiet": ("--quiet", "-q"), "--window-free": ("--window-free",)}
VALUES = ("5", "40", "75", "-1", "-.5", "5,40", "0:80:5", "5 40 75", "4.5", "x", "dft", "sinusoidal:d=64", "a=b", "")


@pytest.fixture(scope="module")
def rewrite():
    command = build_command().commands["reconstruct"]
    context = command.context_class(command, info_name="reconstruct")

    def run(tokens):
        found = {}
        for token in _Rewriter(command, context).rewrite(list(tokens)):
            name, equals, value = token.partition("=")
            name = next(long for table in (SEVERAL, SINGLE, FLAGS) for long, names in table.items() if name in names)
            if not equals:
                found[name] = True
            elif name in SEVERAL:
                found.setdefault(name, []).append(value)
            else:
                found[name] = value
        return found

    return run


@pytest.fixture(scope="module")
def judge():
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    for long, names in SEVERAL.items():
        parser.add_argument(*names, dest=long, nargs="+", action="extend", default=argparse.SUPPRESS)
    for long, names in SINGLE.items():
        parser.add_argument(*names, dest=long, default=argparse.SUPPRESS)
    for long, names in FLAGS.items():
        parser.add_argument(*names, dest=long, action="store_true", default=argparse.SUPPRESS)
    return lambda tokens: vars(parser.parse_args(tokens))


def make_line(chance):
    """A line as typed, and the same with nothing attached to an option, as argparse wants it."""
    typed, plain = [], []
    single = chance.sample(sorted(SINGLE), chance.randint(0, len(SINGLE)))
    flags = [long for long in FLAGS if chance.random() < 0.3]
    several = [long for long in SEVERAL for _ in range(chance.randint(0, 2))]
    for long in chance.sample([*single, *flags, *several], len(single) + len(flags) + len(several)):
        name = chance.choice({**SEVERAL, **SINGLE, **FLAGS}[long])
        count = 0 if long in FLAGS else 1 if long in SINGLE else chance.randint(1, 4)
        values = [chance.choice(VALUES) for _ in range(count)]
        plain += [name, *values]
        if values and values[0] and chance.random() < 0.3:
            typed += [f"{name}={values[0]}", *values[1:]]
        elif values and values[0] and not name.startswith("--") and chance.random() < 0.3:
            typed += [f"{name}{values[0]}", *values[1:]]
        else:
            typed += [name, *values]
    return typed, plain


def test_several_values_are_read_as_argparse_reads_them(rewrite, judge):
    chance = random.Random(5)
    lengths = 0
    for _ in range(4000):
        typed, plain = make_line(chance)
        assert rewrite(typed) == judge(plain), typed
        lengths += len(typed)
    assert lengths > 4000 * 5


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["5"], "unexpected argument (5)"),
        (["--s"], "--s has no value"),
        (["--s", "--json"], "--s has no value"),
        (["--s", "--", "5"], "--s has no value"),
        (["--s", "5", "--", "40"], "unexpected argument (40)"),
        (["--d", "8", "16"], "unexpected argument (16); --d takes one value here"),
        (["--d", "8", "--d", "16"], "--d is given twice (8 and 16)"),
        (["-N", "8", "--grid=9"], "is given twice (8 and 9)"),
        (["--json=1"], "--json takes no value (1)"),
        (["-qx"], "-q takes no value (x)"),
        (["--bandwith", "5"], "no such option (--bandwith); did you mean --bandwidth?"),
        (["--sigma", "5"], "no such option (--sigma); accepted: --"),
        (["-x"], "no such option (-x)"),
        (["--s=5", "--bandwith", "4"], "did you mean --bandwidth?"),
        (["-"], "unexpected argument (-)"),
        ([""], "unexpected argument ('')"),
        (["---s", "5"], "no such option (---s)"),
    ],
)
def test_lines_that_argparse_refuses_or_reads_wrong(rewrite, tokens, words):
    with pytest.raises(InputError) as caught:
        rewrite(tokens)
    assert words in str(caught.value)


def test_help_wins_wherever_it_stands():
    command = build_command().commands["reconstruct"]
    context = command.context_class(command, info_name="reconstruct")
    for tokens in (["-h"], ["--s", "5", "--help"], ["--s", "--help"], ["--nonsense", "-h"]):
        assert _Rewriter(command, context).rewrite(list(tokens)) == ["--help"]
    with pytest.raises(InputError):
        _Rewriter(command, context).rewrite(["--", "--help"])


def test_completion_sees_the_line_as_it_was_typed():
    command = build_command().commands["reconstruct"]
    context = command.make_context("reconstruct", ["--s", "5", "--d", "8", "--d"], resilient_parsing=True)
    assert list(context.params["s"]) == ["5"]


def test_a_list_has_at_least_one_member_and_at_most_as_many_as_it_may():
    weights = ListOf(of=RealRange(minimum=0, maximum=9), most=3)
    assert weights.check((1, 2.5, 3), "weights") == (1.0, 2.5, 3.0)
    assert weights.check([5], "weights") == weights.parse("5", "weights") == (5.0,)
    for given_values, count in (([], 0), ([1, 2, 3, 4], 4)):
        with pytest.raises(InputError, match=rf"weights has {count} members; 1 to 3 are accepted"):
            weights.check(given_values, "weights")


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
