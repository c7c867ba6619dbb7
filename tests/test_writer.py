"""The one writer: whole files, all or none, whatever fails, interrupts or writes beside it."""

import contextlib
import errno
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pe_spectra.errors import FileError, InputError
from pe_spectra.files import places, writer
from pe_spectra.files.writer import check_writable, write_files

OLD = b"old " * 1000
NEW = b"new" * 2000


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """Both ways to make a temporary file: without a name (Linux), and with one (elsewhere)."""
    if request.param == "named":
        monkeypatch.setattr(writer, "_UNNAMED", 0)
    return request.param


def names(folder="."):
    return sorted(os.listdir(folder))


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def refuse(path, *, label="--figure", **options):
    """Both public functions refuse, and the earlier one names the option."""
    with pytest.raises(FileError) as early:
        check_writable([Path(path)], label=label, **options)
    with pytest.raises(FileError) as late:
        write_files({Path(path): NEW}, **options)
    assert str(early.value) == f"{late.value} ({label})"
    assert "\n" not in str(late.value)
    assert not [name for name in names() if name.endswith(".tmp")]
    return late.value.reason


# what a plain write would have done


@pytest.mark.usefixtures("way")
def test_creates_and_replaces():
    for content in (OLD, NEW, b"", bytes(range(256)) * 20_000):
        check_writable([Path("a")], label="--figure")
        write_files({Path("a"): content})
        assert Path("a").read_bytes() == content
        assert names() == ["a"]


def test_nothing_to_write_is_no_error():
    check_writable([], label="")
    write_files({})
    assert names() == []


def test_checking_creates_nothing():
    Path("old").write_bytes(OLD)
    check_writable([Path("old"), Path("new"), Path("f/g/new")], label="", create_parents=True)
    assert names() == ["old"]
    assert Path("old").read_bytes() == OLD


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0, 0o666)])
def test_a_new_file_honours_the_umask(umask, mode):
    previous = os.umask(umask)
    try:
        write_files({Path("a"): NEW})
    finally:
        os.umask(previous)
    assert mode_of("a") == mode


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("old", "kept"), [(0o640, 0o640), (0o777, 0o777), (0o6755, 0o755)])
def test_an_old_file_keeps_its_permissions(old, kept):
    """But a program that runs as its owner (the set-user-id bit) is not made of a figure."""
    Path("a").write_bytes(OLD)
    os.chmod("a", old)
    write_files({Path("a"): NEW})
    assert mode_of("a") == kept


def test_an_old_file_keeps_its_owner(monkeypatch):
    Path("a").write_bytes(OLD)
    with contextlib.suppress(PermissionError):
        os.chown("a", 12345, 12346)
    before = os.stat("a")
    write_files({Path("a"): NEW})
    after = os.stat("a")
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)

    def refuse_to_give(*_):
        raise PermissionError(errno.EPERM, "")

    monkeypatch.setattr(os, "fchown", refuse_to_give)
    write_files({Path("a"): OLD})
    assert Path("a").read_bytes() == OLD


@pytest.mark.parametrize("status", ["missing", "without the line"])
def test_the_umask_is_read_where_the_system_does_not_show_it(tmp_path, monkeypatch, status):
    Path("status").write_bytes(b"Name:\tx\n")
    shown = "none" if status == "missing" else "status"

    def open_other(path, mode):
        assert (path, mode) == ("/proc/self/status", "rb")
        return Path(shown).open("rb")

    monkeypatch.setattr(writer, "open", open_other, raising=False)
    previous = os.umask(0o027)
    try:
        write_files({Path("a"): NEW})
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(previous)
    assert mode_of("a") == 0o640


def test_a_link_is_kept_and_its_target_replaced():
    os.mkdir("folder")
    Path("folder/target").write_bytes(OLD)
    os.symlink("folder/target", "link")
    os.symlink("link", "second")
    write_files({Path("second"): NEW})
    assert os.readlink("second") == "link"
    assert os.readlink("link") == "folder/target"
    assert Path("folder/target").read_bytes() == NEW
    assert names() == ["folder", "link", "second"]
    assert names("folder") == ["target"]


def test_the_target_of_a_dangling_link_is_created():
    os.mkdir("folder")
    os.symlink("folder/target", "link")
    write_files({Path("link"): NEW})
    assert os.path.islink("link")
    assert Path("folder/target").read_bytes() == NEW
    os.symlink("none/target", "lost")
    assert refuse("lost") == "its folder does not exist"


def test_missing_folders_are_made_only_on_request():
    assert refuse("f/g/a") == "its folder does not exist"
    write_files({Path("f/g/a"): NEW, Path("f/b"): OLD}, create_parents=True)
    assert (names("f"), names("f/g")) == (["b", "g"], ["a"])
    write_files({Path("f/c"): NEW}, create_parents=True)
    assert names("f") == ["b", "c", "g"]


def test_a_folder_that_another_process_makes_meanwhile_is_used(monkeypatch):
    make = os.mkdir

    def make_twice(path):
        make(path)
        make(path)

    monkeypatch.setattr(os, "mkdir", make_twice)
    write_files({Path("f/a"): NEW}, create_parents=True)
    assert names("f") == ["a"]


# what cannot be written


def test_refuses_what_is_no_file():
    os.mkdir("folder")
    os.mkfifo("pipe")
    assert refuse("folder") == "is a folder; a regular file is accepted"
    assert refuse("") == "is a folder; a regular file is accepted"
    assert refuse("pipe") == "is a named pipe; a regular file is accepted"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert refuse("socket") == "is a socket; a regular file is accepted"
    assert names() == ["folder", "pipe", "socket"]


def test_refuses_a_block_device(monkeypatch):
    status = os.stat_result((0o060660, *[0] * 9))
    monkeypatch.setattr(places, "find_status", lambda _: status)
    assert refuse("a") == "is a block device; a regular file is accepted"


def test_refuses_impossible_paths():
    Path("file").write_bytes(OLD)
    os.symlink("loop", "loop")
    assert refuse("file/a") == "a part of this path is not a folder"
    assert refuse("file/f/a", create_parents=True) == "a part of this path is not a folder"
    assert refuse("loop") == "is a loop of symbolic links"
    assert refuse("x" * 300) == "the name is too long"
    assert refuse("a\0b") == "is no possible name of a file"
    assert refuse("a\ud800") == "is no possible name of a file"


def test_refuses_a_folder_that_is_a_file():
    Path("file").write_bytes(OLD)
    os.symlink("file/a", "link")
    assert refuse("link") == "a part of this path is not a folder"


def test_refuses_a_folder_that_turns_out_to_be_a_file(monkeypatch):
    """Another process may put a file there between the first look at the path and the second."""
    Path("file").write_bytes(OLD)
    status = os.stat("file")
    monkeypatch.setattr(places, "find_status", lambda path: None if path.name == "a" else status)
    assert refuse("a") == "a part of this path is not a folder"


@pytest.mark.parametrize("denied", ["folder", "file"])
def test_refuses_what_is_protected(monkeypatch, denied):
    """Root may write everywhere, so the answer of the system is replaced."""
    Path("a").write_bytes(OLD)
    needed = {"file": (Path("a").resolve(), os.W_OK), "folder": (Path.cwd(), os.W_OK | os.X_OK)}
    monkeypatch.setattr(os, "access", lambda path, mode, **_: (path, mode) != needed[denied])
    expected = {"folder": "its folder is not writable", "file": "is write-protected"}
    assert refuse("a") == expected[denied]
    assert Path("a").read_bytes() == OLD


def test_refuses_a_folder_that_is_not_writable():
    os.mkdir("folder", 0o555)
    if os.access("folder", os.W_OK):
        pytest.skip("root may write everywhere")
    assert refuse("folder/a") == "its folder is not writable"


def test_refuses_two_names_of_one_file():
    Path("a").write_bytes(OLD)
    os.symlink("a", "link")
    os.mkdir("f")
    for pair in (["a", "link"], ["b", "f/../b"], ["a", "./a"], ["new", "new"]):
        with pytest.raises(InputError, match=r"^two outputs are one file \(--figure\) \("):
            check_writable([Path(name) for name in pair], label="--figure")
    with pytest.raises(InputError, match="two outputs"):
        write_files({Path("a"): NEW, Path("link"): NEW})
    assert Path("a").read_bytes() == OLD


def test_a_later_impossible_file_keeps_the_earlier_ones_unwritten():
    os.mkdir("b")
    with pytest.raises(FileError, match=r"^b: is a folder"):
        write_files({Path("a"): NEW, Path("b"): NEW})
    assert names() == ["b"]


# devices


def test_a_device_is_written_plainly():
    os.symlink("/dev/null", "null")
    check_writable([Path("null")], label="--figure")
    write_files({Path("null"): NEW})
    assert os.path.islink("null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_device_needs_no_folder_to_write_in(monkeypatch):
    os.symlink("/dev/null", "null")
    monkeypatch.setattr(os, "access", lambda path, *_, **__: path == Path("/dev/null"))
    check_writable([Path("null")], label="--figure")


def test_a_full_device_is_named_and_nothing_else_is_written():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    os.symlink("/dev/full", "full")
    check_writable([Path("full")], label="--figure")
    with pytest.raises(FileError, match=r"^full: no space left on the device$"):
        write_files({Path("a"): NEW, Path("full"): NEW})
    assert names() == ["full"]


def test_a_device_that_takes_nothing_is_not_waited_for(monkeypatch):
    os.symlink("/dev/null", "null")
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(FileError, match=r"^null: input or output failed$"):
        write_files({Path("null"): NEW})


# one call of the system fails

CALLS = (
    "open", "write", "fsync", "close", "stat", "lstat", "fchmod", "fchown", "link", "replace",
    "mkdir", "unlink",
)  # fmt: skip
CODES = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EINTR, errno.EDQUOT, errno.EROFS]


class Calls:
    """Counts the calls of the system and does something before the N-th one."""

    def __init__(self, patch, act, only=CALLS):
        self.count, self.act, self.names = 0, act, []
        for name in only:
            patch.setattr(os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name, call):
        def counted(*arguments, **options):
            self.count += 1
            self.names.append(name)
            if name == "close":  # a close that reports an error has closed all the same
                call(*arguments, **options)
            self.act(self.count, name)
            return None if name == "close" else call(*arguments, **options)

        return counted


def fail_at(number, code):
    def act(count, _):
        if count == number:
            raise OSError(code, "text of the system")

    return act


def contents_of(*paths):
    return {path: Path(path).read_bytes() if Path(path).exists() else None for path in paths}


def prepare(folder):
    """One old file, one old file behind a link, one new file, one in a folder that is missing."""
    folder.mkdir()
    (folder / "a").write_bytes(OLD)
    (folder / "target").write_bytes(OLD)
    (folder / "link").symlink_to("target")
    given = ("a", "link", "new", "f/new")
    return {folder / name: NEW for name in given}, tuple(folder / name for name in given)


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
            calls = Calls(patch, fail_at(number, code))
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
    assert met >= set(CALLS) - {"link"}


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


def run(script, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, **options)


LIMITED = """
import resource, sys
from pathlib import Path
from pe_spectra.errors import FileError
from pe_spectra.files.writer import write_files
old, new = b"old " * 1000, b"new" * 2000
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for offset in range(0, len(new), len(new) // 50):
    resource.setrlimit(resource.RLIMIT_FSIZE, (offset, hard))
    for given in ({Path("a"): new}, {Path("b"): new}, {Path("a"): b"", Path("b"): new}):
        try:
            write_files(given)
        except FileError as error:
            assert "limit on the size" in str(error), error
        else:
            sys.exit(f"written within {offset} bytes")
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        names = sorted(path.name for path in Path(".").iterdir())
        assert names == ["a"] and Path("a").read_bytes() == old, names
        resource.setrlimit(resource.RLIMIT_FSIZE, (offset, hard))
print("survived")
"""


def test_a_disk_that_is_full_in_the_middle():
    Path("a").write_bytes(OLD)
    with run(LIMITED) as process:
        assert process.communicate(timeout=60)[0] == b"survived\n"


# Ctrl-C


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_before_any_call_leaves_all_or_nothing(tmp_path, monkeypatch, times):
    """Twice: a second Ctrl-C comes with every later call, the ones that clean up included."""
    number, interrupted = 0, 0
    while True:
        number += 1
        folder = tmp_path / str(number)
        files, paths = prepare(folder)
        before = contents_of(*paths)
        raised = False

        def act(count, _, number=number):
            if count == number or (times == 2 and count > number):
                signal.raise_signal(signal.SIGINT)

        with monkeypatch.context() as patch:
            calls = Calls(patch, act)
            try:
                write_files(files, create_parents=True)
            except KeyboardInterrupt:
                raised = True
        if raised and contents_of(*paths) == before:
            interrupted += 1
            assert not (folder / "f").exists()
        else:  # not reached, or too late: while the folders are synced
            assert contents_of(*paths) == files
        left = {path.name for path in folder.rglob("*")}
        assert left <= {"a", "target", "link", "new", "f"}
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if calls.count < number:
            break
    assert interrupted > 20


def test_a_handler_of_its_own_is_asked_and_put_back(monkeypatch):
    seen = []

    def handler(number, frame):
        seen.append((number, frame))

    def interrupt(count, _):
        if count == 1:
            signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, handler)
    try:
        with monkeypatch.context() as patch:
            Calls(patch, interrupt, only=["write"])
            write_files({Path("a"): NEW})
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [(signal.SIGINT, None)]
    assert Path("a").read_bytes() == NEW


def test_an_ignored_interrupt_stays_ignored():
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        write_files({Path("a"): NEW})
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


def test_other_threads_may_write():
    thread = threading.Thread(target=write_files, args=({Path("a"): NEW},))
    thread.start()
    thread.join()
    assert names() == ["a"]


# SIGKILL, and writers beside each other

ENDLESS = """
import os
from pathlib import Path
from pe_spectra.files.writer import write_files
contents = [b"a" * 2_000_000, b"b" * 2_000_000]
while True:
    for content in contents:
        write_files({Path("f"): content})
        os.write(1, b".")
"""


def kill_writers(count, seed):
    """Kill that many living writers, each at a random moment; count commits and what is left."""
    moments = random.Random(seed)
    commits = 0
    for _ in range(count):
        with run(ENDLESS) as process:
            process.stdout.read(1)
            time.sleep(moments.uniform(0, 0.08))
            assert process.poll() is None
            process.kill()
            commits += 1 + len(process.stdout.read())
        content = Path("f").read_bytes()
        assert content in (b"a" * 2_000_000, b"b" * 2_000_000)
    return commits, len(names()) - 1


def test_a_killed_writer_leaves_one_whole_file():
    commits, left = kill_writers(20, seed=1)
    assert commits > 20
    assert left <= 2


@pytest.mark.slow
def test_two_hundred_killed_writers():
    commits, left = kill_writers(200, seed=2)
    assert commits > 200
    assert left <= 5


SOME = """
import sys
from pathlib import Path
from pe_spectra.files.writer import write_files
for number in range(int(sys.argv[2])):
    write_files({Path("f"): sys.argv[1].encode() * 200_000})
"""


def write_beside_each_other(writers, times):
    letters = [chr(ord("a") + number) for number in range(writers)]
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(run(SOME, letter, times)) for letter in letters]
        reads = 0
        while any(process.poll() is None for process in processes):
            if Path("f").exists():
                content = Path("f").read_bytes()
                assert content == content[:1] * 200_000
                reads += 1
    assert [process.returncode for process in processes] == [0] * writers
    assert names() == ["f"]
    return reads


def test_writers_beside_each_other_leave_one_whole_answer():
    assert write_beside_each_other(writers=4, times=10) > 0


@pytest.mark.slow
def test_many_writers_beside_each_other():
    for _ in range(20):
        assert write_beside_each_other(writers=16, times=5) > 0
