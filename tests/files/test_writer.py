"""The one writer: what a plain write would have done, what it refuses, and devices."""

import contextlib
import errno
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from pe_spectra.errors import FileError, InputError
from pe_spectra.files import places, writer
from pe_spectra.files.places import check_writable
from pe_spectra.files.writer import write_files
from tests.writing import NEW, OLD, WAYS, names, take_way


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    take_way(request.param, monkeypatch)


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


def test_other_threads_may_write():
    thread = threading.Thread(target=write_files, args=({Path("a"): NEW},))
    thread.start()
    thread.join()
    assert names() == ["a"]
