"""The planted faults fit today's source and name tests that exist; and the script that plants them finds out."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation import __main__ as script
from tests.mutation.mutants import Mutant, draw_mutants, read_mutants, read_sources
from tests.mutation.plant import Copy, Run, Workshop

ROOT = Path(script.ROOT)
MUTANTS = read_mutants()
SOURCES = read_sources(ROOT / "pe_spectra")


def list_tests(path: Path) -> set[str]:
    """The names of the test functions of a file; of a module of the package, its functions, whose examples are run."""
    return set(re.findall(r"^ *def (\w+)", path.read_text("utf-8"), flags=re.MULTILINE))


# ----------------------------------------------------------------------------------- the list


def test_every_fault_can_be_planted():
    problems = []
    for mutant in MUTANTS:
        try:
            place = mutant.locate(SOURCES)
            mutant.plant(SOURCES[place.file], place.start)
        except ValueError as error:
            problems.append(str(error))
    assert problems == []


def test_ids_are_unique_and_reasons_are_said():
    assert [name for name, count in Counter(mutant.id for mutant in MUTANTS).items() if count > 1] == []
    assert [mutant.id for mutant in MUTANTS if len(mutant.why) < 10 or not mutant.tests] == []


def test_the_tests_that_are_named_exist():
    known = {name: list_tests(ROOT / name) for name in {one.partition("::")[0] for m in MUTANTS for one in m.tests}}
    missing = []
    for mutant in MUTANTS:
        for test in mutant.tests:
            name, _, function = test.partition("::")
            # of an example the whole dotted name, of a test its parameters behind
            if function and function.partition("[")[0].rpartition(".")[2] not in known[name]:
                missing.append(f"{mutant.id}: {test}")
    assert missing == []


def test_faults_are_spread_over_rooms_files_and_kinds():
    places = [mutant.locate(SOURCES) for mutant in MUTANTS]
    rooms = Counter(place.room for place in places)
    assert len(MUTANTS) >= 60
    assert set(rooms) == {"core", "loaders", "parsers"}
    assert min(rooms.values()) >= 20
    assert len({place.file for place in places}) >= 40
    kinds = Counter(mutant.kind for mutant in MUTANTS)
    assert {"sign", "off by one", "< for <=", "dropped check", "swapped arguments", "missing sort"} <= set(kinds)
    assert {"wrong axis", "dropped low part", "wrong default", "read-only flag", "tolerance loosened"} <= set(kinds)
    assert max(kinds.values()) <= len(MUTANTS) / 2


def test_a_draw_is_the_same_for_the_same_seed():
    drawn = [draw_mutants(MUTANTS, 10, seed) for seed in ("a", "a", "b")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 10
    assert draw_mutants(MUTANTS, 10**6, "a") == MUTANTS


def make(**changes):
    given = {
        "id": "x",
        "kind": "sign",
        "old": "a + b",
        "new": "a - b",
        "why": "it matters",
        "tests": (),
    }
    return Mutant(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"old": "c"}, "stands 0 times"),
        ({"old": "a"}, "stands 2 times"),
        ({"new": "a + b"}, "changes nothing"),
        ({"new": "a +"}, "does not compile"),
    ],
)
def test_a_fault_that_cannot_be_planted_is_found(changes, words):
    mutant, sources = make(**changes), {"a.py": "x = a + b\n", "b.py": "y = a\n"}
    with pytest.raises(ValueError, match=words):
        mutant.plant(sources["a.py"], mutant.locate(sources).start)


TWINS = {
    "rooms/one.py": (
        "def add(a, b):\n    return a + b\n\n\n"
        "class Sum:\n    start = a + b\n\n    def add(self):\n        return a + b\n"
    ),
    "two.py": "LAST: int = (\n    a + b\n)\n\n\ndef twin(a, b):\n    local = a + b\n    return local\n",
}


@pytest.mark.parametrize(
    ("within", "file", "line"),
    [
        ("add", "rooms/one.py", 2),
        ("Sum.start", "rooms/one.py", 6),
        ("Sum.add", "rooms/one.py", 9),
        ("LAST", "two.py", 2),
        ("twin", "two.py", 7),
    ],
)
def test_a_fault_is_found_by_the_name_that_it_stands_in_whatever_the_file(within, file, line):
    for sources in (TWINS, {f"moved/{name}": text for name, text in TWINS.items()}):
        place = make(within=within).locate(sources)
        assert place.file.endswith(file)
        assert sources[place.file].count("\n", 0, place.start) + 1 == line


@pytest.mark.parametrize(("within", "count"), [("", 5), ("Sum", 2), ("local", 0), ("gone", 0)])
def test_a_fault_that_stands_elsewhere_or_several_times_is_not_found(within, count):
    with pytest.raises(ValueError, match=f"stands {count} times"):
        make(within=within).locate(TWINS)


# ----------------------------------------------------------------------------------- the script

TOY = {
    "toy/__init__.py": "",
    "toy/sums.py": "def add(a, b):\n    return a + b\n\n\ndef scale(a):\n    return 1 * a\n",
    "tests/__init__.py": "",
    "tests/test_sums.py": (
        "from toy.sums import add, scale\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "def test_scale():\n    assert scale(0) == 0\n"
    ),
    "mutants.toml": (
        "[[mutant]]\nid = 'seen'\nnear = 'sums.py'\nkind = 'sign'\nold = 'a + b'\nnew = 'a - b'\n"
        "why = 'sums are wrong'\ntests = ['tests/test_sums.py::test_add']\n\n"
        "[[mutant]]\nid = 'unseen'\nnear = 'sums.py'\nkind = 'wrong factor'\nold = '1 * a'\nnew = '2 * a'\n"
        "why = 'products are wrong'\ntests = ['tests/test_sums.py::test_scale']\n"
    ),
}


@pytest.fixture
def toy(tmp_path):
    for name, text in TOY.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "repository"


@pytest.mark.slow
def test_a_fault_that_no_test_sees_is_reported(toy, capsys):
    code = script.main(["--mutants", str(toy / "mutants.toml"), "--jobs", "1"], root=toy, package="toy")
    out = capsys.readouterr().out
    assert code == 1
    assert "2 faults; without any, their tests pass" in out
    assert "seen: tests/test_sums.py::test_add" in out
    assert "survived: unseen, sums.py: products are wrong\n  1 passed\n  - 1 * a\n  + 2 * a\n" in out
    assert "1 of 2 killed" in out
    for name, text in TOY.items():
        assert (toy / name).read_text("utf-8") == text
    assert [path.name for path in toy.rglob("__pycache__")] == []


def test_only_what_is_asked_for_is_planted(toy, capsys):
    chosen = ["--mutants", str(toy / "mutants.toml"), "--only"]
    assert script.main([*chosen, "neither"], root=toy, package="toy") == 1
    assert capsys.readouterr().out == "no such mutant: neither\n"
    assert script.main([*chosen, "seen", "--list"], root=toy, package="toy") == 0
    assert capsys.readouterr().out == "seen  core, sign, sums.py: sums are wrong\n"
    for asked, found in (("toy/sums.py", ["seen", "unseen"]), ("sums.py", ["seen", "unseen"]), ("__init__.py", [])):
        assert script.main([*chosen[:2], "--only-file", asked, "--list"], root=toy, package="toy") == 0
        assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == found
    assert script.main([*chosen[:2], "--only-file", "gone.py"], root=toy, package="toy") == 1
    assert capsys.readouterr().out == "no such file of the package: gone.py\n"


def test_faults_to_carry_over_are_named(toy, capsys):
    asked = ["--mutants", str(toy / "mutants.toml"), "--locate"]
    assert script.main(asked, root=toy, package="toy") == 0
    assert capsys.readouterr().out == ""
    (toy / "toy" / "moved.py").write_text((toy / "toy" / "sums.py").read_text("utf-8").replace("1 * a", "a"), "utf-8")
    (toy / "toy" / "sums.py").unlink()
    assert script.main(asked, root=toy, package="toy") == 1
    assert capsys.readouterr().out == (
        "unseen: its old text stands 0 times in the package, not once\n  was in sums.py: products are wrong\n"
        "  - 1 * a\n  tests/test_sums.py::test_scale\n"
    )


class Pretended:
    """A copy whose runs end as they are told to."""

    def __init__(self, *runs):
        self.runs, self.asked = list(runs), []

    def test(self, tests):
        self.asked.append(tests)
        return self.runs.pop(0)

    judge = Copy.judge


def test_tests_that_fail_without_a_fault_kill_nothing(capsys):
    broken = Pretended(Run(outcome="failed", detail="tests/test_a.py::test_b", seconds=1.0))
    mutants = (make(tests=("tests/test_a.py::test_b", "tests/test_a.py::test_c")),)
    assert script._run(Workshop([broken]), mutants) == 1
    assert capsys.readouterr().out == "without any fault, tests do not pass:\n  failed: tests/test_a.py::test_b\n"
    assert broken.asked == [("tests/test_a.py::test_b", "tests/test_a.py::test_c")]


@pytest.mark.parametrize(
    ("outcome", "verdict", "detail"),
    [
        ("passed", "survived", "so it was"),
        ("failed", "killed", "so it was"),
        ("timeout", "killed", "timeout: so it was"),
        ("crash", "killed", "crash: so it was"),
        ("invalid", "invalid", "so it was"),
    ],
)
def test_what_a_run_says_of_a_fault(tmp_path, outcome, verdict, detail):
    copy = Pretended(Run(outcome=outcome, detail="so it was", seconds=2.0))
    copy.place, copy.package = tmp_path, "toy"
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.py").write_text("x = a + b\n", encoding="utf-8")
    found = copy.judge(make())
    assert (found.outcome, found.detail, found.seconds) == (verdict, detail, 2.0)
    assert (tmp_path / "toy" / "a.py").read_text("utf-8") == "x = a + b\n"


@pytest.mark.parametrize(
    ("code", "found", "outcome", "words"),
    [
        (0, {"passed": 3, "failed": []}, "passed", "3 passed"),
        (1, {"passed": 3, "failed": ["t.py::test_a"]}, "failed", "t.py::test_a"),
        (0, {"passed": 0, "failed": []}, "invalid", "nothing was tested"),
        (2, {"passed": 0, "failed": []}, "invalid", "pytest ended with 2: no tests ran"),
        (4, {}, "invalid", "pytest ended with 4"),
        (0, {"passed": 3, "failed": [], "package": "/elsewhere/toy/__init__.py"}, "invalid", "not the copy"),
        (0, {"passed": 3, "failed": [], "package": None}, "invalid", "not the copy"),
    ],
)
def test_what_pytest_says_of_a_run(toy, tmp_path, code, found, outcome, words):
    copy = Copy(toy, tmp_path / "copy", "toy")
    report = found and {"package": str(copy.place / "toy" / "__init__.py"), **found}
    read = copy._read(code, report, "..\nno tests ran\n")
    assert read[0] == outcome
    assert words in read[1]
