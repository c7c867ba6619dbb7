"""Options with several values, against argparse."""

import argparse
import random

import pytest

from pe_spectra.cli.arguments import Rewriter
from pe_spectra.cli.declared import build_command
from pe_spectra.errors import InputError
from pe_spectra.numbers import ListOf, RealRange

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
        for token in Rewriter(command, context).rewrite(list(tokens)):
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
        assert Rewriter(command, context).rewrite(list(tokens)) == ["--help"]
    with pytest.raises(InputError):
        Rewriter(command, context).rewrite(["--", "--help"])


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
