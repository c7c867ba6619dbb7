"""Files that a person names: what is read, and what is refused in which words."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.errors import FileError, InputError
from pe_spectra.files.json_toml import read_toml
from pe_spectra.files.reading import read_bytes
from pe_spectra.sources import build_encodings
from tests.pace import call_within
from tests.refusing import catch


def refuse(path, *, limit=100):
    return catch(read_bytes, Path(path), limit=limit, label="--settings", kind=FileError, after="(--settings)")


def test_reads_a_whole_file_up_to_the_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert read_bytes(path, limit=100, label="") == b"x" * 100
    assert "holds more than 99 bytes" in refuse(path, limit=99)


def test_reads_more_than_one_chunk(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(range(256)) * 10_000)
    assert read_bytes(path, limit=1 << 22, label="") == bytes(range(256)) * 10_000


def test_limits_the_bytes_read_not_the_size_reported():
    """A file of /proc reports 0 bytes and holds some."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("no /proc")
    assert "holds more than 10 bytes" in refuse("/proc/self/status", limit=10)


def test_follows_a_link_and_reads_an_empty_file(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(tmp_path / "link", limit=0, label="") == b""


def test_refuses_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "a named pipe" in refuse(tmp_path / "pipe")
    assert "a folder" in refuse(tmp_path)
    assert "a device" in refuse("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        refuse(tmp_path / "s")


def test_refuses_what_is_not_there(tmp_path):
    assert "no such file" in refuse(tmp_path / "none")
    (tmp_path / "file").touch()
    assert "not a folder" in refuse(tmp_path / "file" / "a")
    (tmp_path / "loop").symlink_to("loop")
    assert "loop" in refuse(tmp_path / "loop")
    assert "too long" in refuse(tmp_path / ("x" * 300))
    assert "no possible name" in refuse("a\0b")


def test_names_the_path_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refuse("./none").startswith("none: ")
    assert refuse("no/such").startswith("no/such: ")


@pytest.mark.parametrize("call", ["open", "fstat", "pread"])
def test_a_failing_call_is_our_error_and_leaves_no_descriptor(tmp_path, monkeypatch, call):
    path = tmp_path / "a"
    path.write_bytes(b"x")
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0

    def fail(*_, **__):
        raise OSError(5, "some text of the system")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        text = refuse(path)
    assert "input or output failed" in text
    assert "some text" not in text
    after = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    assert after == before


def settle(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def toml_error(tmp_path, text):
    with pytest.raises(FileError) as caught:
        read_toml(settle(tmp_path, text), label="--settings")
    message = str(caught.value)
    assert "\n" not in message
    assert "s.toml: " in message
    assert message.endswith("(--settings)")
    assert len(message.split("s.toml: ")[1]) < 200
    return message.split("s.toml: ")[1]


def test_toml_gives_the_tables(tmp_path):
    text = 'd = 64\nrho = 1e4\n[spectrum]\nbandwidth = [1.0, 4]\nformat = "json"\nx = {y = 1}\n'
    assert read_toml(settle(tmp_path, text), label="") == {
        "d": 64,
        "rho": 1e4,
        "spectrum": {"bandwidth": [1.0, 4], "format": "json", "x": {"y": 1}},
    }
    assert read_toml(settle(tmp_path, ""), label="") == {}


def test_toml_of_a_mebibyte_is_read_and_one_byte_more_is_not(tmp_path):
    line = b"# padding\n"
    whole = line * ((1 << 20) // len(line)) + b"#" * ((1 << 20) % len(line))
    assert len(whole) == 1 << 20
    assert read_toml(settle(tmp_path, whole), label="") == {}
    assert "holds more than 1048576 bytes" in toml_error(tmp_path, whole + b"#")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("d = \n", "is not TOML (line 1)"),
        ('\n\nd = "open', "is not TOML (line 3)"),
        ("\ufeffd = 1", "is not TOML (line 1)"),
        ('d = "\0"', "is not TOML (line 1)"),
        ("x = " + "{a = " * 10_000, "nests too deep"),
        ("d = " + "[" * 100_000, "nests too deep"),
        ("d = " + "9" * 5000, "has a value out of range"),
        ("d = 64\nd = 128\n", "gives d twice (line 2)"),
        ("d = 64\nd = 128\nrho = 1\n", "gives d twice (line 2)"),
        ("d = 1\nd = [1,\n2]\n", "gives a key twice (line 3)"),
        ("[a]\nb = 1\n[a]\n", "gives a key twice (line 3)"),
        ("x = {b = 1, b = 2}\n", "gives a key twice (line 1)"),
        ("a = {}\na.b = 1\n", "gives a key twice (line 2)"),
        ("k" * 500 + " = 1\n" + "k" * 500 + " = 1\n", "k... (500 characters) twice (line 2)"),
        (b'\nencoding = "\xe9"\n', "is not UTF-8 (line 2)"),
        (b"\x93NUMPY\x01\x00", "is not UTF-8 (line 1)"),
        ("rho = nan\n", "rho is not a finite number"),
        ("rho = -inf\n", "rho is not a finite number"),
        ("rho = 1e400\n", "rho is not a finite number"),
        ("d = 1\n[spectrum]\nb = [1.0, {x = inf}]\n", "spectrum.b.x is not a finite number"),
        ("k" * 500 + " = nan\n", "(500 characters) is not a finite number"),
        ("\nx = {" + "a." * 50 + "a = 1}\n", "has a key of more than 32 parts (line 2)"),
    ],
)
def test_toml_is_refused_with_key_or_line(tmp_path, text, reason):
    assert reason in toml_error(tmp_path, text)


def test_the_first_of_several_unbounded_numbers_is_named(tmp_path):
    assert toml_error(tmp_path, "a = 1\nb = [1.0, nan]\nc = nan\n").startswith("b is not")


def test_dots_that_make_no_key_are_no_reason(tmp_path):
    numbers = ", ".join(["0.5"] * 200)
    text = f"# {'.' * 200}\nb = [{numbers}]\n"
    assert read_toml(settle(tmp_path, text), label="") == {"b": [0.5] * 200}


@pytest.mark.parametrize("text", ["a." * 500_000 + "a = 1", "[" + "a . " * 260_000 + "a]\n"])
def test_a_hostile_key_takes_no_time(tmp_path, text):
    """The parser itself takes half a minute for a tenth of this."""
    # quadratic time would take far longer
    assert "32 parts" in call_within(20, lambda: toml_error(tmp_path, text))


def test_what_else_the_parser_raises_is_our_error(tmp_path, monkeypatch):
    def fail(_):
        raise AttributeError("a fault of the library")

    monkeypatch.setattr("tomllib.loads", fail)
    assert "fault" not in toml_error(tmp_path, "d = 1")


# ----------------------------------------------------------------------------------- files by name


def test_an_option_is_named_for_a_long_path(tmp_path):
    path = tmp_path / ("long" * 20) / "table.npy"
    os.mkdir(path.parent)
    np.save(path, np.eye(3))
    with pytest.raises(InputError, match=r"^--rows are not in the table \(0:9\)"):
        build_encodings([str(path)], {"rows": ["0:9"]})
    with pytest.raises(InputError, match=r"table\.npy: rows are not in the table \(0:9\)"):
        build_encodings([f"{path}?rows=0:9"], {})
