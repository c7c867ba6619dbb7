"""The ledger: no line is lost or there twice, however its process ends, and nothing of anybody else is touched."""

import errno
import json
import os
import random
import signal
import subprocess
import sys

import pytest

from pe_spectra.errors import FileError, InputError
from pe_spectra.files.ledger import Ledger, describe_differences, is_ledger, read_ledger, render_lines
from tests.places import ROOT
from tests.stopping import NEVER

SETTINGS = {"width": 64, "rates": [0.001, 0.01], "noise": {"share": 0.1}}
COLUMNS = ("accuracy", "arm")


def open_ledger(path, settings=SETTINGS, columns=COLUMNS, **more):
    return Ledger.open(path, settings, columns=columns, label="--output", **more)


def fill(path, *keys):
    with open_ledger(path) as ledger:
        for key in keys:
            ledger.append(key, {"accuracy": 0.5, "arm": "dft:d=8"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.csv"


# ----------------------------------------------------------------------------------- what is written and read


def test_cells_come_back_as_they_were_written(path):
    told = {"accuracy": 0.1 + 0.2, "arm": 'rope:d=8, "as is"'}
    with open_ledger(path, about={"numpy": "2.0"}) as ledger:
        ledger.append("a", told)
        ledger.append("b", {"accuracy": None, "arm": True})
        ledger.append("c", {"accuracy": -3, "arm": "é"})
    found = read_ledger(path)
    assert found.settings == SETTINGS
    assert found.about == {"numpy": "2.0"}
    assert found.columns == ("key", *COLUMNS)
    assert [tuple(row.values()) for row in found.rows] == [
        ("a", "0.30000000000000004", told["arm"]),
        ("b", "", "true"),
        ("c", "-3", "é"),
    ]


def test_other_programs_read_it_as_csv_behind_one_comment(path):
    fill(path, "a", "b")
    first, *others = path.read_text().splitlines()
    assert json.loads(first.removeprefix("# pe-spectra ledger 1 ")) == {"settings": SETTINGS, "about": {}}
    assert others == ["key,accuracy,arm", "a,0.5,dft:d=8", "b,0.5,dft:d=8"]


def test_it_goes_on_where_it_was(path):
    fill(path, "a", "b")
    before = path.read_bytes()
    with open_ledger(path) as ledger:
        assert ledger.done == {"a", "b"}
        assert [row["key"] for row in ledger.rows] == ["a", "b"]
        ledger.append("c", {"accuracy": 1, "arm": "none"})
        assert ledger.done == {"a", "b", "c"}
        assert ledger.rows[-1] == {"key": "c", "accuracy": "1", "arm": "none"}
    assert path.read_bytes() == before + b"c,1,none\n"


def test_a_line_is_on_the_disk_when_append_returns(path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    with open_ledger(path) as ledger:
        synced.clear()
        ledger.append("a", {"accuracy": 1, "arm": "none"})
        assert synced == [path.stat().st_size]


def test_a_key_is_there_once(path):
    fill(path, "a")
    with open_ledger(path) as ledger, pytest.raises(InputError, match=r"this key is there already \(a\)"):
        ledger.append("a", {"accuracy": 1, "arm": "none"})
    assert len(read_ledger(path).rows) == 1


@pytest.mark.parametrize("cell", ["a\nb", "a\r", "\n", "a\u2028b", "a\0"])
def test_a_cell_is_one_line(path, cell):
    with open_ledger(path) as ledger, pytest.raises(InputError, match="line break"):
        ledger.append("a", {"accuracy": 1, "arm": cell})
    assert read_ledger(path).rows == ()


def test_a_line_has_the_columns_of_the_ledger(path):
    with open_ledger(path) as ledger, pytest.raises(InputError, match=r"\(arm, accuracy\); accuracy, arm"):
        ledger.append("a", {"arm": "none", "accuracy": 1})


# ----------------------------------------------------------------------------------- what is refused, and stays


def refuse(path, words, **more):
    """Opening the ledger gives one line with these words, and changes no byte."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(FileError, match=words) as caught, open_ledger(path, **more):
        pass
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith("(--output)")
    assert "\n" not in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({**SETTINGS, "width": 32}, "other settings: width is 64 there and 32 now; name another file"),
        ({**SETTINGS, "noise": {"share": 0.2}}, r"noise\.share is 0\.1 there and 0\.2 now"),
        ({**SETTINGS, "rates": [0.001]}, r"rates is \[0\.001, 0\.01\] there and \[0\.001\] now"),
        ({**SETTINGS, "passes": 6}, "passes is not set there and 6 now"),
        ({"width": 64}, r"rates is \[.*\] there and not set now, noise\.share is 0\.1 there and not set now"),
    ],
)
def test_other_settings_are_named(path, settings, words):
    fill(path, "a")
    refuse(path, words, settings=settings)


def test_of_many_differences_the_first_are_named():
    old, new = ({f"s{n}": n + more for n in range(9)} for more in (0, 1))
    said = describe_differences(old, new)
    assert said.count("there and") == 4
    assert said.endswith(", and 5 more")


def test_settings_that_json_writes_alike_are_the_same(path):
    with open_ledger(path, {"rates": (0.1, 1e-3)}):
        pass
    with open_ledger(path, {"rates": [0.1, 0.001]}) as ledger:
        assert ledger.done == set()


def test_what_it_is_about_may_change(path):
    with open_ledger(path, about={"numpy": "2.0"}):
        pass
    with open_ledger(path, about={"numpy": "2.1"}) as ledger:
        assert ledger.about == {"numpy": "2.0"}


def test_other_columns_are_refused(path):
    fill(path, "a")
    refuse(path, "has other columns: arm, loss", columns=("accuracy", "loss"))
    refuse(path, "has other columns: in another order", columns=("arm", "accuracy"))


def test_lines_are_refused_where_there_may_be_none(path):
    fill(path)
    with open_ledger(path, resume=False):
        pass
    fill(path, "a")
    refuse(path, "has 1 line already; name another file", resume=False)


@pytest.mark.parametrize(
    "data", [b"a,b\n1,2\n", b"# a comment\n", b"\x93NUMPY", b"\n", b"# pe-spectra ledger 2 {}\nkey\n", b"\xff\xfe"]
)
def test_a_file_that_is_no_ledger_is_never_overwritten(path, data):
    path.write_bytes(data)
    refuse(path, "is no ledger of results; it stays as it is")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.replace(b'{"settings"', b'{"setings"'), "line 1: its settings are damaged"),
        (lambda data: data.replace(b"}}", b"}"), "line 1: its settings are damaged"),
        (lambda data: data.replace(b"key,", b"kee,"), "line 2: its columns are damaged"),
        (lambda data: data.replace(b"accuracy,arm", b"arm,arm"), "line 2: its columns are damaged"),
        (lambda data: data.replace(b"b,0.5", b"b"), "line 4 has 2 cells, not 3"),
        (lambda data: data.replace(b"b,0.5", b"a,0.5"), "line 4 has the key of line 3: a"),
        (lambda data: data.replace(b"b,0.5", b'"b,0.5'), "has a line that is no CSV"),
    ],
)
def test_a_damaged_ledger_is_refused_with_its_line(path, change, words):
    fill(path, "a", "b")
    path.write_bytes(change(path.read_bytes()))
    refuse(path, words)
    with pytest.raises(FileError, match=words):
        read_ledger(path)


def test_places_that_are_no_file_are_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "folder", "is a folder")
    refuse(tmp_path / "pipe", "is a named pipe")
    refuse(tmp_path / "none" / "runs.csv", "its folder does not exist")


def test_devices_are_refused():
    with pytest.raises(FileError, match="/dev/null: is a device"), open_ledger(os.devnull):
        pass


def test_a_second_writer_is_refused_in_one_line(path):
    with open_ledger(path) as ledger:
        ledger.append("a", {"accuracy": 1, "arm": "none"})
        refuse(path, "is being written by another process; wait for its end")
        apart = subprocess.run(
            [sys.executable, "-c", APPEND, str(path), "3", str(NEVER)], cwd=ROOT, capture_output=True, text=True
        )
        assert "is being written by another process" in apart.stderr
        assert read_ledger(path).rows == tuple(ledger.rows)
        ledger.append("b", {"accuracy": 1, "arm": "none"})
    with open_ledger(path) as ledger:
        assert ledger.done == {"a", "b"}


# ----------------------------------------------------------------------------------- while it is written


def test_a_ledger_that_is_removed_or_changed_meanwhile_is_told(path):
    with open_ledger(path) as ledger:
        path.write_text("something else")
        with pytest.raises(FileError, match="was changed by another program"):
            ledger.append("a", {"accuracy": 1, "arm": "none"})
    path.unlink()
    with open_ledger(path) as ledger:
        path.unlink()
        with pytest.raises(FileError, match="was removed or replaced"):
            ledger.append("a", {"accuracy": 1, "arm": "none"})


def test_a_full_disk_leaves_whole_lines(path, monkeypatch):
    real = os.pwrite

    def fail(descriptor, data, place):
        if place < before + 4:
            return real(descriptor, data[:3], place)
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_ledger(path) as ledger:
        ledger.append("a", {"accuracy": 1, "arm": "none"})
        before = path.stat().st_size
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", fail)
            with pytest.raises(FileError, match=r"no space left on the device \(--output\)"):
                ledger.append("b", {"accuracy": 1, "arm": "none"})
        assert path.stat().st_size == before
        assert ledger.done == {"a"}
        ledger.append("b", {"accuracy": 1, "arm": "none"})
    assert [row["key"] for row in read_ledger(path).rows] == ["a", "b"]


def test_ctrl_c_waits_for_the_end_of_a_line(path, monkeypatch):
    real = os.pwrite

    def interrupted(descriptor, data, place):
        signal.raise_signal(signal.SIGINT)
        return real(descriptor, data[:3], place)

    with open_ledger(path) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", interrupted)
            with pytest.raises(KeyboardInterrupt):
                ledger.append("a", {"accuracy": 1, "arm": "none"})
        assert ledger.done == {"a"}
    assert [row["key"] for row in read_ledger(path).rows] == ["a"]


@pytest.mark.parametrize("tail", [b"c", b"c,0.5,dft:d=8", b'c,0.5,"dft', b"\0" * 20])
def test_a_torn_last_line_is_cut_off_and_done_anew(path, tail):
    fill(path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    assert [row["key"] for row in read_ledger(path).rows] == ["a", "b"]
    assert path.read_bytes() == whole + tail  # reading changes nothing
    fill(path, "c")
    assert path.read_bytes() == whole + b"c,0.5,dft:d=8\n"


def test_a_beginning_of_the_first_lines_is_begun_anew(path):
    fill(path)
    header = path.read_bytes()
    for length in range(len(header)):
        path.write_bytes(header[:length])
        fill(path, "a")
        assert path.read_bytes() == header + b"a,0.5,dft:d=8\n"


# ----------------------------------------------------------------------------------- killed at random moments

#: Appends so many lines, those that are not there, until its file has a size.
APPEND = """
import os, sys
from pathlib import Path
from pe_spectra.files.ledger import Ledger
from tests.stopping import stop_at

stop_at(int(sys.argv[3]), piece=2)
os.fsync = lambda _: None
with Ledger.open(Path(sys.argv[1]), {"width": 64}, columns=["square", "text"]) as ledger:
    for number in range(int(sys.argv[2])):
        if f"run/{number}" not in ledger.done:
            ledger.append(f"run/{number}", {"square": number * number, "text": "x" * (number % 50)})
"""
LINES = 1000


def append(path, size=NEVER):
    """Append until the file has this size, at which the process is killed, or to the end; give what is there then."""
    command = [sys.executable, "-c", APPEND, str(path), str(LINES), str(size)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        process.kill()
    assert process.returncode == (0 if size == NEVER else -signal.SIGKILL)
    return path.read_bytes()


@pytest.mark.parametrize("most", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_kills_lose_no_line_and_repeat_none(tmp_path, most):
    """Each that is killed leaves what it had written, most of them a part of a line."""
    whole, killed = append(tmp_path / "undisturbed.csv"), tmp_path / "killed.csv"
    assert whole.count(b"\n") == 2 + LINES
    draw = random.Random(30)
    for size in sorted(draw.sample(range(whole.index(b"run/0"), len(whole)), most)):
        assert append(killed, size) == whole[:size]
        assert len(read_ledger(killed).rows) == whole[:size].count(b"\n") - 2
    assert append(killed) == whole


def test_the_lock_goes_with_a_killed_process(path):
    rows = append(path, 2000).count(b"\n") - 2
    with Ledger.open(path, {"width": 64}, columns=["square", "text"]) as ledger:
        assert len(ledger.done) == rows


@pytest.mark.parametrize("left", range(5))
def test_lines_that_belong_together_are_all_there_or_none(path, left):
    """A kill leaves some of three lines, and a part of the next."""

    def open_groups():
        return open_ledger(path, is_end=lambda key: key.endswith("3/3"))

    def add(ledger, name):
        ledger.append_all({f"{name} {n}/3": {"accuracy": n, "arm": "none"} for n in (1, 2, 3)})

    with open_groups() as ledger:
        add(ledger, "a")
        whole = path.read_bytes()
        add(ledger, "b")
    both = path.read_bytes()
    lines = both.splitlines(keepends=True)[-3:]
    path.write_bytes(whole + b"".join(lines[:left]) + (lines[left][:4] if left < 3 else b"c 1/3,"))
    with open_groups() as ledger:
        assert len(ledger.rows) == (6 if left >= 3 else 3)
        assert path.read_bytes() == (both if left >= 3 else whole)
        if left < 3:
            add(ledger, "b")
    assert path.read_bytes() == both


def test_lines_that_were_rendered_elsewhere_stand_as_those_of_cells(path, tmp_path):
    fill(path, "a", 'b, "c"')
    cells = [[key, "0.5", "dft:d=8"] for key in ("a", 'b, "c"')]
    with open_ledger(tmp_path / "other.csv") as ledger:
        ledger.append_lines([row[0] for row in cells], render_lines(cells))
        assert ledger.done == {"a", 'b, "c"'}
        with pytest.raises(InputError, match=r"this key is there already \(a\)"):
            ledger.append_lines(["d", "a"], b"d,0.5,x\na,0.5,x\n")
        with pytest.raises(InputError, match=r"this key is there already \(a\)"):
            ledger.append("a", {"accuracy": 1, "arm": "none"})
    assert (tmp_path / "other.csv").read_bytes() == path.read_bytes()
    with pytest.raises(InputError, match="line break"):
        render_lines([["a", "b\nc"]])


def test_of_lines_that_are_refused_none_is_written(path):
    fill(path, "a")
    before = path.read_bytes()
    with open_ledger(path) as ledger, pytest.raises(InputError, match=r"this key is there already \(a\)"):
        ledger.append_all({key: {"accuracy": 1, "arm": "none"} for key in ("b", "a")})
    assert path.read_bytes() == before


def test_a_file_that_grew_beyond_what_is_read_is_refused(path, monkeypatch):
    fill(path, "a")
    monkeypatch.setattr("pe_spectra.files.ledger.MAX_TEXT_TABLE_BYTES", 8)
    refuse(path, "holds more than 8 bytes")


def test_a_file_that_is_replaced_while_it_is_opened_is_refused(path, monkeypatch):
    fill(path, "a")
    monkeypatch.setattr(os.path, "samestat", lambda *_: False)
    refuse(path, "was replaced while it was opened")


def test_a_ledger_is_told_by_its_first_line(tmp_path):
    with Ledger.open(tmp_path / "a.csv", {}, columns=["x"]):
        pass
    (tmp_path / "b.csv").write_text("# pe-spectra", encoding="utf-8")
    (tmp_path / "c.csv").write_bytes(b"")
    assert [is_ledger(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv", "none.csv", "")] == [True, *[False] * 4]
