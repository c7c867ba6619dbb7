"""The fuzzer of .ci/run: how it judges what it runs, and lines taken apart."""

from types import ModuleType, SimpleNamespace

import pytest

from tests.places import ROOT
from tests.program.command_lines import Part, split_line

#: A fuzzer as the wrapper knows them: it counts control bytes, but colours not in its own profile of variables.
FUZZER = """
import re

def singles(seed, grammar):
    return [seed + str(number) for number in range(41)]

def judge(case, out):
    return ["control"] if "\\x1b" in (re.sub("\\x1b.1m", "", out) if case.env_name == "colour" else out) else []

def main(arguments):
    print(arguments, singles("7", {}))
    return 3
"""


@pytest.fixture
def wrapper(tmp_path):
    """The module .ci/fuzz.py, and a fuzzer for it."""
    (tmp_path / "fuzzer.py").write_text(FUZZER, encoding="utf-8")
    module = ModuleType("fuzz")
    path = ROOT / ".ci" / "fuzz.py"
    exec(compile(path.read_bytes(), path, "exec"), vars(module))
    return module, str(tmp_path / "fuzzer.py")


@pytest.mark.parametrize(
    ("argv", "out", "found"),
    [
        ("spectrum", "8\n", []),
        ("spectrum", "\x1b[1m8\n", ["control"]),
        ("spectrum --color always", "\x1b[1m8\n", []),
        ("spectrum --color=always", "\x1b[1m8\n", []),
        ("spectrum --color always", "\x1b[1m8\x1b]0;title\n", ["control"]),
        ("spectrum --color auto", "\x1b[1m8\n", ["control"]),
        ("spectrum --quiet always", "\x1b[1m8\n", ["control"]),
        ("spectrum -- --color always", "\x1b[1m8\n", ["control"]),
        ("-- spectrum --color always", "\x1b[1m8\n", []),
    ],
)
def test_the_wrapper_forgives_colours_where_they_were_asked_for(wrapper, argv, out, found):
    module, path = wrapper
    fuzzer = module.load_fuzzer(path)
    module.allow_asked_colours(fuzzer)
    case = SimpleNamespace(argv=argv.split(), env_name="plain")
    assert fuzzer.judge(case, out) == found
    assert case.env_name == "plain"


def test_the_wrapper_keeps_absolute_paths_from_the_judge(wrapper):
    module, _ = wrapper
    argv = ["spectrum", "--figure", "/dev/null", "--output=/dev/x\n=/", "a/b.csv", "--json"]
    assert module.blank_absolute(argv) == ["spectrum", "--figure", "", "--output=", "a/b.csv", "--json"]


def test_the_wrapper_hands_on_its_arguments_and_takes_a_tenth_of_the_sweep(wrapper, capsys):
    module, path = wrapper
    assert module.main([path, "--n", "5"]) == 3
    assert capsys.readouterr().out == f"['--n', '5'] {[f'7{number}' for number in range(41)]}\n"
    assert module.main([path, "--tenth", "abc", "--strict"]) == 3
    assert capsys.readouterr().out == f"['--sweep', '--seed', 'abc', '--strict'] {[f'7{n}' for n in range(5)]}\n"


def test_lines_are_taken_apart_and_put_together():
    line = split_line("precision sinusoidal:d=8 --dtype bfloat16 float16 --length=8 --json")
    assert line.parts == (
        Part("--dtype", ("bfloat16", "float16")),
        Part("--length", ("8",)),
        Part("--json"),
        Part("", ("sinusoidal:d=8",)),
    )
    assert line.argv == ["precision", "--dtype", "bfloat16", "float16", "--length", "8", "--json", "sinusoidal:d=8"]
