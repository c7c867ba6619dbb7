"""The planted faults fit today's source and name tests that exist; and the script that plants them finds out."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation import __main__ as script
from tests.mutation.mutants import Mutant, draw_mutants, read_mutants
from tests.mutation.plant import Copy, Run, Workshop

ROOT = Path(script.ROOT)
MUTANTS = read_mutants()


def list_tests(path: Path) -> set[str]:
    """The names of the test functions of a file; of a module of the package, its functions, whose examples are run."""
    return set(re.findall(r"^ *def (\w+)", path.read_text("utf-8"), flags=re.MULTILINE))


# ----------------------------------------------------------------------------------- the list


def test_every_fault_can_be_planted():
    sources = {name: (ROOT / name).read_text("utf-8") for name in {mutant.file for mutant in MUTANTS}}
    problems = []
    for mutant in MUTANTS:
        try:
            mutant.plant(sources[mutant.file])
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
    rooms = Counter(mutant.room for mutant in MUTANTS)
    assert len(MUTANTS) >= 60
    assert set(rooms) == {"core", "loaders", "parsers"}
    assert min(rooms.values()) >= 20
    assert len({mutant.file for mutant in MUTANTS}) >= 40
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
        "file": "a.py",
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
    with pytest.raises(ValueError, match=words):
        make(**changes).plant("x = a + b\ny = a\n" if changes.get("old") == "a" else "x = a + b\n")


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
        "[[mutant]]\nid = 'seen'\nfile = 'toy/sums.py'\nkind = 'sign'\nold = 'a + b'\nnew = 'a - b'\n"
        "why = 'sums are wrong'\ntests = ['tests/test_sums.py::test_add']\n\n"
        "[[mutant]]\nid = 'unseen'\nfile = 'toy/sums.py'\nkind = 'wrong factor'\nold = '1 * a'\nnew = '2 * a'\n"
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


def test_a_fault_that_no_test_sees_is_reported(toy, capsys):
    code = script.main(["--mutants", str(toy / "mutants.toml"), "--jobs", "1"], root=toy, package="toy")
    out = capsys.readouterr().out
    assert code == 1
    assert "2 faults; without any, their tests pass" in out
    assert "seen: tests/test_sums.py::test_add" in out
    assert "survived: unseen, toy/sums.py: products are wrong\n  1 passed\n  - 1 * a\n  + 2 * a\n" in out
    assert "1 of 2 killed" in out
    for name, text in TOY.items():
        assert (toy / name).read_text("utf-8") == text
    assert [path.name for path in toy.rglob("__pycache__")] == []


def test_only_what_is_asked_for_is_planted(toy, capsys):
    chosen = ["--mutants", str(toy / "mutants.toml"), "--only"]
    assert script.main([*chosen, "neither"], root=toy, package="toy") == 1
    assert capsys.readouterr().out == "no such mutant: neither\n"
    assert script.main([*chosen, "seen", "--list"], root=toy, package="toy") == 0
    assert capsys.readouterr().out == "seen  core, sign, toy/sums.py: sums are wrong\n"


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
    copy.place = tmp_path
    (tmp_path / "a.py").write_text("x = a + b\n", encoding="utf-8")
    found = copy.judge(make())
    assert (found.outcome, found.detail, found.seconds) == (verdict, detail, 2.0)
    assert (tmp_path / "a.py").read_text("utf-8") == "x = a + b\n"


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
