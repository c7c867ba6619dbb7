"""The one writer when the system fails it: any call, two calls, every call from some moment on, and full disks."""

import ast
import errno
import io
import itertools
import os
import sys
from pathlib import Path

import pytest

from pe_spectra.cli.run import Run
from pe_spectra.errors import FileError
from pe_spectra.files import places, writer
from pe_spectra.files.writer import write_files
from tests.writing import (
    CALLS,
    CODES,
    NEW,
    OLD,
    TEMPORARY,
    WAYS,
    Calls,
    contents_of,
    fail_at,
    names,
    prepare,
    run_apart,
    snapshot,
    take_way,
)

#: Where thousands of files are written, nobody waits for the disk.
UNSYNCED = {"fsync": lambda _: None}

#: What the writer calls besides `CALLS`, and why it need not be made to fail.
HARMLESS = {
    "access": "answers no, which tests of refusals let it do",
    "fspath": "asks nobody",
    "getcwd": "only for relative paths; a working directory that has gone is a row of the catalogue",
    "set_blocking": "only for devices",
    "umask": "cannot fail, and is asked only where there is no /proc",
    "urandom": "does not fail once the machine is up",
    "strerror": "asks nobody",
    "path": "calls lstat and readlink, which are counted",
}


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    return take_way(request.param, monkeypatch)


# every call of the system is known
def test_every_call_in_the_sources_is_made_to_fail_or_harmless():
    named = set()
    for module in (writer, places):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                named.add(node.attr)
    flags = {name for name in named if name.isupper() or name.startswith(("supports_", "stat_result"))}
    assert named - flags <= set(CALLS) | set(HARMLESS)


def record_calls(function):
    """Give the calls of the system that a function makes, those of Python's own modules included."""
    made = set()

    def note(_frame, event, callee):
        if event == "c_call" and getattr(callee, "__module__", "") in (os.stat.__module__, io.open.__module__):
            made.add(callee.__name__)  # those with an underscore only look at text

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(previous)
    return made


def test_every_call_that_a_run_makes_is_made_to_fail_or_harmless(tmp_path, way):
    files, _ = prepare(tmp_path / "0")
    made = record_calls(lambda: write_files(files, create_parents=True))
    made = {name for name in made if not name.startswith("_")}
    assert made - set(HARMLESS) == set(CALLS) - {"rmdir"}


# one call fails
@pytest.mark.few(3)
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_any_one_failing_call_leaves_all_or_nothing(tmp_path, monkeypatch, code):
    number, failures, met = 0, 0, set()
    while True:
        number += 1
        folder = tmp_path / str(number)
        files, paths = prepare(folder)
        before = contents_of(*paths)
        raised = None
        with monkeypatch.context() as patch:
            calls = Calls(patch, fail_at({number}, code), replaced=UNSYNCED)
            try:
                write_files(files, create_parents=True)
            except FileError as error:
                raised = error
        if raised is None:
            assert contents_of(*paths) == files
        else:
            failures += 1
            assert contents_of(*paths) == before
            assert not (folder / "f").exists()
            assert raised.path in files
            assert "text of the system" not in str(raised)
        assert (folder / "link").is_symlink()
        left = {path.name for path in folder.rglob("*")} - {"a", "target", "link", "new", "f"}
        # a failing unlink cannot take itself back
        if left:
            assert calls.names[number - 1] == "unlink"
        if calls.count < number:
            break
        met.add(calls.names[number - 1])
    assert failures > 20
    assert met == set(CALLS) - {"rmdir"}  # that one undoes what was done


def test_the_bytes_are_synced_before_the_name_and_the_folder_after(monkeypatch, way):
    with monkeypatch.context() as patch:
        calls = Calls(patch, lambda *_: None, only=["open", "write", "fchmod", "fsync", "link", "replace"])
        write_files({Path("a"): NEW})
    file = ["open", "write", "fchmod", "fsync"]
    made = [*file, "link"] if way == "unnamed" else ["open", *file]
    assert calls.names == [*made, "replace", "open", "fsync"]


def test_a_temporary_never_takes_the_place_of_a_file(monkeypatch):
    """However improbable its name is: somebody may have put a link there."""
    Path("a").write_bytes(OLD)
    monkeypatch.setattr(writer, "_UNNAMED", 0)
    monkeypatch.setattr(os, "urandom", bytes)
    os.symlink("a", f".pe-spectra-{bytes(8).hex()}.tmp")
    with pytest.raises(FileError):
        write_files({Path("b"): NEW})
    assert names() == ["a"]
    assert Path("a").read_bytes() == OLD


def test_every_temporary_is_made_before_the_first_rename(monkeypatch):
    for name in "abc":
        Path(name).write_bytes(OLD)
    with monkeypatch.context() as patch:
        calls = Calls(patch, lambda *_: None, only=["write", "replace"])
        write_files(dict.fromkeys(map(Path, "abcd"), NEW))
    assert calls.names == ["write"] * 4 + ["replace"] * 4


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_a_call_that_goes_on_failing(monkeypatch, code):
    """As a full disk does: not one call fails, but each from the N-th on."""
    Path("a").write_bytes(OLD)
    for name in ("open", "write", "fsync", "fchmod", "replace", "stat", "lstat"):
        with monkeypatch.context() as patch:
            Calls(patch, lambda *_: (_ for _ in ()).throw(OSError(code, "")), only=[name])
            with pytest.raises(FileError):
                write_files({Path("a"): NEW, Path("b"): NEW})
        assert names() == ["a"]
        assert Path("a").read_bytes() == OLD


def test_without_hard_links_the_files_are_written_all_the_same(monkeypatch):
    """No name for the unnamed file, no second name for the old one."""
    Path("a").write_bytes(OLD)
    with monkeypatch.context() as patch:
        Calls(patch, lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "")), only=["link"])
        write_files({Path("a"): NEW, Path("b"): NEW})
    assert names() == ["a", "b"]
    assert Path("a").read_bytes() == NEW


def test_without_a_second_name_the_first_file_cannot_be_taken_back(monkeypatch):
    """The one gap: a system without hard links on which a rename fails after another succeeded."""
    Path("a").write_bytes(OLD)
    os.mkdir("f")
    replaced = []

    def fail_second(_, name):
        if name == "link":
            raise OSError(errno.EPERM, "")
        replaced.append(name)
        if len(replaced) == 2:
            raise OSError(errno.EIO, "")

    with monkeypatch.context() as patch:
        Calls(patch, fail_second, only=["link", "replace"])
        with pytest.raises(FileError):
            write_files({Path("a"): NEW, Path("f/b"): NEW})
    assert Path("a").read_bytes() == NEW
    assert (names(), names("f")) == (["a", "f"], [])


# two calls fail, or all of them from some moment on
def write_while(patch, folder, act):
    """Write a prepared folder while calls fail; give what was asked for, the calls and the error."""
    files, paths = prepare(folder)
    before = contents_of(*paths)
    with patch.context() as inner:
        calls = Calls(inner, act, replaced=UNSYNCED)
        try:
            write_files(files, create_parents=True)
        except FileError as error:
            raised = error
        else:
            raised = None
    for path, content in contents_of(*paths).items():
        assert content in (before[path], NEW)
    left = [path.name for path in folder.rglob("*.tmp")]
    assert all(map(TEMPORARY.fullmatch, left))
    return calls, raised, contents_of(*paths) == before, left


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("code", [errno.EIO, errno.EROFS], ids=errno.errorcode.get)
def test_a_disk_that_dies(tmp_path, monkeypatch, code):
    """From the N-th call on every one fails, those that clean up included: nothing has changed, or whole files have."""
    number, refused = 0, 0
    while True:
        number += 1
        calls, raised, is_old, left = write_while(
            monkeypatch, tmp_path / str(number), fail_at(range(number, 10**6), code)
        )
        first_change = calls.names.index("replace") + 1 if "replace" in calls.names else calls.count
        if number <= first_change:
            assert raised is not None
            assert is_old
            refused += 1
        assert len(left) <= 6
        if calls.count < number:
            break
        for path in (tmp_path / str(number)).rglob("*.tmp"):
            path.unlink()
    assert refused > 20
    assert (raised, is_old, left) == (None, False, [])


def fail_in_pairs(folder, monkeypatch, code, pairs):
    """Let two calls fail; count the runs that reached both."""
    reached = 0
    for first, second in pairs:
        calls, raised, is_old, left = write_while(
            monkeypatch, folder / f"{first}-{second}", fail_at({first, second}, code)
        )
        if calls.count < second:
            continue
        reached += 1
        failed = {calls.names[first - 1], calls.names[second - 1]}
        # what cannot be taken back: a failing removal, and a failing rename back
        assert not left or failed & {"unlink", "replace"}
        if raised is not None:
            assert is_old or failed & {"unlink", "replace"}
    return reached


@pytest.mark.usefixtures("way")
def test_two_calls_in_a_row_fail(tmp_path, monkeypatch):
    assert fail_in_pairs(tmp_path, monkeypatch, errno.EIO, [(first, first + 1) for first in range(1, 70)]) > 20


@pytest.mark.slow
@pytest.mark.usefixtures("way")
def test_any_two_calls_fail(tmp_path, monkeypatch):
    pairs = itertools.combinations(range(1, 70), 2)
    assert fail_in_pairs(tmp_path, monkeypatch, errno.ENOSPC, pairs) > 400


# a call does less than it was asked to
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("most", [1, 7, 4096, 1 << 20])
def test_short_writes_are_continued(monkeypatch, most):
    write, sizes = os.write, []
    content = bytes(range(256)) * (12_000 if most > 4000 else 8)

    def write_less(descriptor, data):
        sizes.append(len(data))
        return write(descriptor, data[:most])

    monkeypatch.setattr(os, "write", write_less)
    Path("a").write_bytes(OLD)
    write_files({Path("a"): content, Path("b"): NEW[:100]})
    assert Path("a").read_bytes() == content
    assert Path("b").read_bytes() == NEW[:100]
    assert len(sizes) >= len(content) / most


@pytest.mark.usefixtures("way")
def test_a_short_write_before_the_disk_is_full(monkeypatch):
    """As a disk does: what still fits is written, and the next call is refused."""
    write, room = os.write, [len(NEW) // 2]

    def fill(descriptor, data):
        if not room[0]:
            raise OSError(errno.ENOSPC, "")
        written = write(descriptor, data[: room[0]])
        room[0] -= written
        return written

    Path("a").write_bytes(OLD)
    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(FileError, match=r"^a: no space left on the device$"):
        write_files({Path("a"): NEW})
    assert names() == ["a"]
    assert Path("a").read_bytes() == OLD


@pytest.mark.usefixtures("way")
def test_a_disk_that_takes_nothing_is_not_waited_for(monkeypatch):
    Path("a").write_bytes(OLD)
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(FileError, match=r"^a: input or output failed$"):
        write_files({Path("a"): NEW})
    assert names() == ["a"]


# through the whole command line
@pytest.fixture
def drawn_once(monkeypatch):
    """Draw each picture once: what is tried is how it is written, together with the answer."""
    kept, finish = {}, Run.finish

    def finish_once(run, *arguments, **options):
        key = tuple(sys.argv)
        if key not in kept:
            outcome = finish(run, *arguments, **options)
            kept[key] = outcome._replace(parts=tuple(outcome.parts))  # they are made when they are written, once
        return kept[key]

    monkeypatch.setattr(Run, "finish", finish_once)


def fail_each_call(cli, folder, monkeypatch, argv, code):
    """Let the N-th call of the writer fail, for N = 1, 2, .. until none does; count the runs that were refused."""
    refused, number = 0, 0
    answer = cli(argv).out
    expected = snapshot(folder)
    while True:
        number += 1
        for path in folder.iterdir():
            path.unlink()
        Path("old.svg").write_bytes(OLD)
        before = snapshot(folder)
        with monkeypatch.context() as patch:
            calls = Calls(patch, fail_at({number}, code), replaced=UNSYNCED)
            done = cli(argv)
        name = calls.names[number - 1] if number <= calls.count else ""
        after = {path: content for path, content in snapshot(folder).items() if not TEMPORARY.fullmatch(path)}
        assert name == "unlink" or after == snapshot(folder)
        if done.code == 0:
            assert (done.out, after) == (answer, expected)
        else:
            refused += 1
            assert done.code == 2
            # the last step of all comes after the answer
            assert done.out == "" or (name, done.out) == ("replace", answer)
            assert done.err.startswith("error: ")
            assert done.err.count("\n") == 1
            assert after == before
        if not name:
            return refused


ARGV = "spectrum --d 8 --quiet --figure old.svg"


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (ARGV, errno.ENOSPC),
        *(
            pytest.param(argv, code, marks=pytest.mark.slow)
            for argv in (ARGV, f"{ARGV} --output new.json")
            for code in CODES
        ),
    ],
)
def test_a_command_survives_any_one_failing_call(cli, tmp_path, monkeypatch, argv, code):
    assert fail_each_call(cli, tmp_path, monkeypatch, argv, code) > 12


@pytest.mark.slow
@pytest.mark.usefixtures("drawn_once")
def test_a_command_on_a_disk_that_dies(cli, tmp_path, monkeypatch):
    """The clean-up fails too, so a temporary file may stay; the old figure does."""
    number = 0
    while True:
        number += 1
        Path("old.svg").write_bytes(OLD)
        with monkeypatch.context() as patch:
            calls = Calls(patch, fail_at(range(number, 10**6), errno.EIO), replaced=UNSYNCED)
            done = cli(ARGV)
        if calls.count < number or "replace" in calls.names[: number - 1]:
            break
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert Path("old.svg").read_bytes() == OLD
        assert all(map(TEMPORARY.fullmatch, set(names()) - {"old.svg"}))
    assert number > 12


# disks that are full
FULL = {
    "svg": ["spectrum", "--d", "16", "--figure", "old.svg"],
    "png": ["spectrum", "--d", "16", "--figure", "old.png"],
    "pdf": ["spectrum", "--d", "16", "--figure", "old.pdf"],
    "figure and answer": ["spectrum", "--d", "16", "--figure", "old.svg", "--output", "new.json"],
    "npy": ["export", "sinusoidal:d=16", "--length", "64", "--output", "old.npy"],
    "safetensors": ["export", "sinusoidal:d=16", "--length", "64", "--output", "old.safetensors"],
    "csv": ["export", "sinusoidal:d=16", "--length", "64", "--output", "old.csv"],
    "figures": ["figures", "--output", "drawn"],
}
PRINTING = {"svg", "png", "pdf", "figures"}
OLD_FILES = [f"old.{suffix}" for suffix in ("svg", "png", "pdf", "npy", "safetensors", "csv")]


def fill_disk(folder, kind, offsets):
    for name in OLD_FILES:
        (folder / name).write_bytes(OLD)
    endings = run_apart("fill_disk", FULL[kind], offsets, kind in PRINTING, folder=folder)
    assert len(endings) == offsets + (kind in PRINTING)
    for ending in endings:
        reason = (
            "no space left on device" if ending["limit"] == "stdout" else "the limit on the size of a file is reached"
        )
        assert (ending["code"], ending["stdout"], ending["unchanged"]) == (2, "", True), ending
        assert ending["stderr"].startswith("error: "), ending
        assert ending["stderr"].endswith(f": {reason}\n"), ending
        assert ending["stderr"].count("\n") == 1, ending
    assert contents_of(*(folder / name for name in OLD_FILES)) == {folder / name: OLD for name in OLD_FILES}


@pytest.mark.parametrize("kind", ["npy"])
def test_a_disk_that_is_full_at_some_offsets(tmp_path, kind):
    fill_disk(tmp_path, kind, 5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FULL)
def test_a_disk_that_is_full_at_fifty_offsets(tmp_path, kind):
    fill_disk(tmp_path, kind, 50)


@pytest.mark.parametrize("argv", ["spectrum --d 8 --figure full.svg", "export sinusoidal:d=8 --output full.csv"])
def test_a_full_device(refuse, tmp_path, argv):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    name = argv.split()[-1]
    (tmp_path / name).symlink_to("/dev/full")
    assert refuse(argv) == f"{name}: no space left on the device"
