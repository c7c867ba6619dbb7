"""Run a fuzzer of command lines on lines that ask for colour too: `fuzz.py FUZZER [--tenth SEED] ARGUMENT...`.

The fuzzer is a module file with `main(arguments)`, `judge(case, ...)` and `singles(seed, grammar)`.
Under --strict it counts every control byte, except colours where its own profile of variables asks
for them. A line with `--color always` asks for them as well, so it is judged as that profile is:
colours are not counted, every other control byte is. Absolute paths are kept from the judge, which
never ends on one, and `-` and what stands behind `--` are told to it as the files that they are: of
several files each may have an error line. Nothing else of the fuzzer is changed.

`--tenth SEED` stands for `--sweep --seed SEED` with the first tenth of the lines, in the order that
the seed decides.
"""

import copy
import importlib.util
import re
import sys
from itertools import pairwise
from pathlib import Path

COLOURED_PROFILE = "colour"


def load_fuzzer(path):
    """Give the fuzzer as a module, and leave nothing beside its file."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    return module


def find_end(argv):
    """Where the options of a command end: at the first `--` behind it; one before it ends those of the program."""
    return next((place for place, token in enumerate(argv) if token == "--" and place > 0), len(argv))


def asks_for_colour(argv):
    """Whether a command line has `--color always` among its options."""
    options = argv[: find_end(argv)]
    return "--color=always" in options or ("--color", "always") in pairwise(options)


def blank_absolute(argv):
    """Leave absolute paths out: the judge never ends on one (the folder above / is /), and watches none."""
    return [re.sub(r"=/.*", "=", "" if token.startswith("/") else token, flags=re.DOTALL) for token in argv]


def name_as_files(argv):
    """Write `-` and what begins with a dash behind `--` as files, which they are: the judge takes them for options."""
    end = find_end(argv)
    return [
        f"./{token}" if token == "-" or (token.startswith("-") and place > end) else token
        for place, token in enumerate(argv)
    ]


def allow_asked_colours(fuzzer):
    """Let the fuzzer judge a line with `--color always` as it judges its own coloured profile."""
    judge = fuzzer.judge

    def judge_asked(case, *rest):
        coloured = asks_for_colour(case.argv)
        case = copy.copy(case)
        case.argv = name_as_files(blank_absolute(case.argv))
        if coloured:
            case.env_name = COLOURED_PROFILE
        return judge(case, *rest)

    fuzzer.judge = judge_asked


def keep_tenth(fuzzer):
    """Let the sweep have the first tenth of its lines."""
    list_all = fuzzer.singles

    def list_tenth(seed, grammar):
        lines = list_all(seed, grammar)
        return lines[: -(-len(lines) // 10)]

    fuzzer.singles = list_tenth


def main(arguments):
    """Run the fuzzer at the path given first on the rest of the arguments; return its exit status."""
    fuzzer = load_fuzzer(arguments[0])
    rest = list(arguments[1:])
    allow_asked_colours(fuzzer)
    if "--tenth" in rest:
        place = rest.index("--tenth")
        rest[place : place + 2] = ["--sweep", "--seed", *rest[place + 1 : place + 2]]
        keep_tenth(fuzzer)
    return fuzzer.main(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
