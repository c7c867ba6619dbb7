"""Workers tell what is shown of a test, and nothing that is lost."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import tests.reporting
from tests.reporting import Briefly, is_enough, is_told

ROOT = Path(__file__).parents[2]

TEST = """
import pytest

@pytest.fixture
def broken():
    raise OSError("before")

@pytest.fixture
def leaving():
    print("said before")
    yield
    raise OSError("after")

def test_passes():
    pass

def test_prints():
    print("said")

def test_fails():
    print("said and failed")
    assert 1 == 2

def test_has_no_beginning(broken):
    pass

def test_has_no_end(leaving):
    pass

@pytest.mark.skip(reason="not now")
def test_is_skipped():
    pass

@pytest.mark.xfail(reason="known", strict=True)
def test_is_known_to_fail():
    assert False
"""


def report(when, outcome="passed", **more):
    return pytest.TestReport("a::b", ("a", 0, "b"), {}, outcome, None, when, **more)


def configure(workerinput=True, **options):
    option = {"verbose": 0, "durations": None, "xmlpath": None, "maxfail": 0, **options}
    return SimpleNamespace(option=SimpleNamespace(**option), **({"workerinput": {}} if workerinput else {}))


@pytest.mark.parametrize("ends", [False, True])
def test_of_a_test_that_passed_its_call_is_told(monkeypatch, ends):
    ran = [report("setup"), report("call"), report("teardown")]
    asked, told, ended = [], [], []

    def run(item, log, nextitem):
        asked.append((item, log, nextitem))
        return ran

    def tell(report):
        told.append(report)

    def end(nodeid, location):
        ended.append((nodeid, location))

    monkeypatch.setattr(tests.reporting, "runtestprotocol", run)
    monkeypatch.setattr(tests.reporting, "ENDS", ends)
    hooks = SimpleNamespace(pytest_runtest_logreport=tell, pytest_runtest_logfinish=end)
    item = SimpleNamespace(ihook=hooks, nodeid="a::b", location=("a", 0, "b"))
    assert Briefly().pytest_runtest_protocol(item, "the next") is True
    assert asked == [(item, False, "the next")]
    assert told == [ran[1]]
    assert ended == [("a::b", ("a", 0, "b"))] * ends


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_whatever_says_more_is_told(when):
    assert is_told(report(when, "failed"))
    assert is_told(report(when, "skipped"))
    assert is_told(report(when, sections=[("Captured stdout setup", "said")]))
    assert is_told(report(when, user_properties=[("statistics", "50 examples")]))
    assert is_told(report(when)) == (when == "call")


def test_where_more_is_shown_everything_is_told():
    assert is_enough(configure())
    assert is_enough(configure(verbose=-1))
    assert not is_enough(configure(workerinput=False))
    for more in ({"verbose": 1}, {"durations": 0}, {"durations": 9}, {"xmlpath": "run.xml"}, {"maxfail": 1}):
        assert not is_enough(configure(**more)), more


@pytest.mark.slow
def test_a_run_shows_the_same(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_all.py").write_text(TEST, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "reporting.py", tmp_path / "tests")

    def run(conftest):
        (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
        options = ["-n", "1", "-rA", "-p", "no:cacheprovider", "-c", "pytest.ini", "tests"]
        done = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=tmp_path, capture_output=True, text=True)
        assert done.stderr == ""
        return re.sub(r"in [\d.]+s", "", done.stdout)

    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    with_all = run("")
    briefly = run(
        "from tests.reporting import Briefly, is_enough\n"
        "def pytest_configure(config):\n"
        "    if is_enough(config):\n"
        "        config.pluginmanager.register(Briefly())\n"
    )
    assert "1 failed, 3 passed, 1 skipped, 1 xfailed, 2 errors" in with_all
    assert briefly == with_all
