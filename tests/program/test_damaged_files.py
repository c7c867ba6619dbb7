"""Damaged files never surprise: each is answered or refused in our words, within a second and bounded memory."""

import dataclasses
import json
import os
import re
import struct
import subprocess
import sys
import time
import tracemalloc
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save

from pe_spectra.errors import FileError
from pe_spectra.files import arrays, reading, tables
from pe_spectra.files.gguf_file import read_gguf
from pe_spectra.files.tables import read_array
from tests.places import ROOT
from tests.program import damage_judge
from tests.program.damage import KINDS, damage, write_shards
from tests.program.damage_judge import Census, choose_reader, judge_file, limited_memory, read_table, warm_up


def judge_in_process(kind, first, last):
    """Judge files in a process of their own, whose memory is that of nothing else; give one census a format."""
    command = [sys.executable, "-m", "tests.program.damage_judge", kind, str(first), str(last)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert done.stderr == b""
    return [Census(**json.loads(line)) for line in done.stdout.splitlines()]


def check_census(census, files):
    """Demand that no law was broken, and that the run reached what it means to test."""
    assert not census.faults, "\n".join(census.faults)
    assert census.files == files == census.accepted + census.refused
    assert census.accepted >= files / 100, "hardly anything was read"
    assert census.refused >= files / 3, "hardly anything was refused"
    assert abs(census.in_header / files - 0.8) < 3 * 0.4 / files**0.5, "headers are hit 4 times of 5"
    assert len(census.reasons) >= 15, "the damage does not get deep enough"
    assert len(census.damages) >= 10
    assert census.seconds <= damage_judge.MOST_SECONDS


@pytest.mark.slow
def test_500_damaged_files_are_answered_or_refused():
    found = judge_in_process("all", 0, 100)
    assert [census.kind for census in found] == list(KINDS)
    for census in found:
        check_census(census, 100)


@pytest.mark.slow
def test_20000_damaged_files_are_answered_or_refused():
    parts = [(kind, first, first + 2000) for kind in KINDS for first in (0, 2000)]
    with ThreadPoolExecutor(2) as pool:
        found = [census for part in pool.map(lambda part: judge_in_process(*part), parts) for census in part]
    assert len(found) == 10
    for census in found:
        check_census(census, 2000)


# ----------------------------------------------------------------------------------- sizes that headers only claim


def pack_npy(shape, version=1):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header


def pack_npz(member, *, declared=None):
    """One stored member; `declared` is written over its length in both places, as a damaged archive has it."""
    with zipfile.ZipFile("case.npz", "w") as archive:
        archive.writestr("a.npy", member)
    data = Path("case.npz").read_bytes()
    if declared is not None:
        for mark, place in ((b"PK\x03\x04", 18), (b"PK\x01\x02", 20)):
            start = data.index(mark) + place
            data = data[:start] + struct.pack("<II", *declared) + data[start + 8 :]
    return data


def pack_tensor(shape, end, *, length=None):
    header = json.dumps({"pos_embed": {"dtype": "F64", "shape": shape, "data_offsets": [0, end]}}).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + b"\0" * 64


def pack_gguf(*, tensors=0, keys=0, body=b""):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + body + b"\0" * 64


def text(word):
    return struct.pack("<Q", len(word)) + word


def pack_gguf_tensor(name, *sizes):
    entry = text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, 0)
    return pack_gguf(tensors=1, body=entry)


def pack_gguf_key(kind, *numbers):
    return pack_gguf(keys=1, body=text(b"a") + struct.pack(f"<I{len(numbers)}Q", kind, *numbers))


def pack_gguf_list(kind, count):
    return pack_gguf(keys=1, body=text(b"a") + struct.pack("<IIQ", 9, kind, count))


HUGE = {
    "a shape": ("npy", lambda: pack_npy((1 << 20, 1 << 16))),
    "a shape within the limits": ("npy", lambda: pack_npy((1 << 13, 1 << 13))),
    "a shape of 40 digits": ("npy", lambda: pack_npy((10**39, 10**39))),
    "a header of 4 GiB": ("npy", lambda: b"\x93NUMPY\x02\0\xff\xff\xff\xff{" + b" " * 50),
    "a header of 64 KiB": ("npy", lambda: b"\x93NUMPY\x01\0\xff\xff{" + b" " * 50),
    "a member's shape": ("npz", lambda: pack_npz(pack_npy((1 << 13, 1 << 13)))),
    "a member's header": ("npz", lambda: pack_npz(b"\x93NUMPY\x02\0\xff\xff\xff\xff{")),
    "a member of 4 GiB": ("npz", lambda: pack_npz(pack_npy((1 << 13, 1 << 13)), declared=(0xFFFFFFF0, 0xFFFFFFF0))),
    "a member that grows": ("npz", lambda: pack_npz(pack_npy((1 << 13, 1 << 13)), declared=(90, 0xFFFFFFF0))),
    "a directory of 4 GiB": ("npz", lambda: b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 1, 1, 0xFFFFFFF0, 0, 0)),
    "a directory of 65,535 members": ("npz", lambda: b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 65535, 65535, 46, 0, 0)),
    "a header of 2^63 bytes": ("safetensors", lambda: pack_tensor([2, 4], 64, length=1 << 63)),
    "a header of 16 MiB": ("safetensors", lambda: pack_tensor([2, 4], 64, length=1 << 24)),
    "a tensor and its place": ("safetensors", lambda: pack_tensor([1 << 13, 1 << 13], 1 << 29)),
    "a tensor, not its place": ("safetensors", lambda: pack_tensor([1 << 13, 1 << 13], 64)),
    "a tensor of 2^80 numbers": ("safetensors", lambda: pack_tensor([1 << 40, 1 << 40], 64)),
    "a tensor in a shard": ("index.json", lambda: pack_tensor([1 << 13, 1 << 13], 1 << 29)),
    "the header of a shard": ("index.json", lambda: pack_tensor([2, 4], 64, length=1 << 24)),
    "2^62 tensors": ("gguf", lambda: pack_gguf(tensors=1 << 62)),
    "65,536 tensors": ("gguf", lambda: pack_gguf(tensors=1 << 16)),
    "2^62 keys": ("gguf", lambda: pack_gguf(keys=1 << 62)),
    "a name of 2^62 bytes": ("gguf", lambda: pack_gguf(keys=1, body=struct.pack("<Q", 1 << 62))),
    "a text of 2^62 bytes": ("gguf", lambda: pack_gguf_key(8, 1 << 62)),
    "a list of 2^62 numbers": ("gguf", lambda: pack_gguf_list(10, 1 << 62)),
    "a list of 2^62 texts": ("gguf", lambda: pack_gguf_list(8, 1 << 62)),
    "a list of 2^20 texts": ("gguf", lambda: pack_gguf_list(8, 1 << 20)),
    "a table of positions": ("gguf", lambda: pack_gguf_tensor(b"position_embd.weight", 1 << 13, 1 << 13)),
    "a table of 2^80 numbers": ("gguf", lambda: pack_gguf_tensor(b"position_embd.weight", 1 << 40, 1 << 40)),
    "a list of factors": ("gguf", lambda: pack_gguf_tensor(b"rope_freqs.weight", 1 << 16)),
}


def measure_refusal(read):
    """Refuse a file under a limit of 8 MiB on what is reserved; give the message, the bytes traced, the seconds."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with limited_memory(8 << 20), pytest.raises(FileError) as caught:
            read()
        return str(caught.value), tracemalloc.get_traced_memory()[1], time.perf_counter() - start
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("claim", HUGE)
def test_what_a_header_claims_is_compared_with_the_file_before_anything_is_allocated(tmp_path, monkeypatch, claim):
    monkeypatch.chdir(tmp_path)
    suffix, build = HUGE[claim]
    data = build()
    assert len(data) < 1000
    if suffix == "index.json":
        Path("first.safetensors").write_bytes(data)
        data = b'{"metadata": {"total_size": 4611686018427387904}, "weight_map": {"pos_embed": "first.safetensors"}}'
    path = Path(f"case.{suffix}")
    path.write_bytes(data)
    read = read_gguf if suffix == "gguf" and "table" not in claim else read_array
    message, traced, seconds = measure_refusal(lambda: read(path))
    assert "memory" not in message
    assert message.startswith(("case.", "first."))
    assert traced < 2 << 20
    assert seconds < damage_judge.MOST_SECONDS


def test_what_is_refused_as_huge_is_read_where_it_is_small(tmp_path, monkeypatch):
    """The files above are refused for what they claim, not for how they are made."""
    monkeypatch.chdir(tmp_path)
    table = np.arange(8.0).reshape(2, 4)
    made = {
        "a.npy": pack_npy((2, 4)) + table.tobytes(),
        "a.npz": pack_npz(pack_npy((2, 4)) + table.tobytes()),
        "a.safetensors": pack_tensor([2, 4], 64)[:-64] + table.tobytes(),
        "a.gguf": pack_gguf_tensor(b"position_embd.weight", 4, 2).ljust(96, b"\0") + table.astype("<f4").tobytes(),
        "model.safetensors.index.json": b'{"weight_map": {"pos_embed": "a.safetensors"}}',
    }
    for name, data in made.items():
        Path(name).write_bytes(data)
        if name != "a.gguf":
            np.testing.assert_array_equal(read_array(Path(name)).values, table)
    assert read_array(Path("a.gguf")).values.shape == (2, 4)


# ----------------------------------------------------------------------------------- the judge is awake


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Good files of every format, each read once, so that libraries are loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("good"))
        return {kind: warm_up(kind) for kind in KINDS}


@pytest.fixture
def judge(tmp_path, monkeypatch, good):
    """Judge the first damaged files of a format, or one file that is given; give the census."""
    monkeypatch.chdir(tmp_path)
    write_shards(tmp_path)

    def run(kind, files=40, data=None):
        census = Census(kind=kind)
        originals = good[kind]
        for number in range(files if data is None else 1):
            original, damaged, way = damage(kind, number, originals)
            path = Path(f"case{original.suffix}" if data is None else f"case.{kind}")
            reader = choose_reader(kind, number) if data is None else read_table
            judge_file(census, path, damaged if data is None else data, reader, f"{kind} {number} ({way})")
        return census

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_good_files_are_read(tmp_path, monkeypatch, good, kind):
    monkeypatch.chdir(tmp_path)
    write_shards(tmp_path)
    for original in good[kind]:
        Path(f"case{original.suffix}").write_bytes(original.data)
        choose_reader(kind, 0 if kind != "json" or "index" not in original.name else 1)(f"./case{original.suffix}")


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_fault_the_judge_is_silent(judge, kind):
    assert judge(kind).faults == []


@pytest.mark.parametrize("error", [ValueError("x"), MemoryError(), RecursionError("x"), KeyError("x"), EOFError()])
def test_an_error_of_a_library_is_seen(judge, monkeypatch, error):
    monkeypatch.setattr(tables, "read_array", fail_with(error))
    census = judge("npy", 3)
    assert any(type(error).__name__ in fault for fault in census.faults)
    assert census.accepted == 0


def test_the_text_of_a_library_is_seen(judge, monkeypatch):
    monkeypatch.setattr(reading, "_describe_any", lambda *_: "Object arrays cannot be loaded when allow_pickle=False")
    assert any("words of a library" in fault for fault in judge("npz").faults)


def test_a_pause_is_seen(judge, monkeypatch):
    monkeypatch.setattr(damage_judge, "MOST_SECONDS", 0.3)
    monkeypatch.setattr(tables, "_identify", lambda *_: time.sleep(0.4))
    # a busy machine wakes it later
    assert any(re.search(r"took [0-9.]+ s", fault) for fault in judge("csv", 1).faults)


@pytest.mark.parametrize("used", [False, True])
def test_memory_for_what_a_header_claims_is_seen(judge, monkeypatch, used):
    def allocate(claimed_bytes, found):
        claimed = np.empty(min(claimed_bytes // 8, 1 << 25))
        if used:
            claimed[:] = 1

    monkeypatch.setattr(arrays, "check_length", allocate)
    faults = judge("npy", data=pack_npy((1 << 13, 1 << 13))).faults
    assert len(faults) == 1
    assert "needs more memory" in faults[0]


def test_memory_is_seen_where_no_limit_holds(judge, monkeypatch):
    monkeypatch.setattr(damage_judge, "limited_memory", lambda *_: limited_memory(1 << 40))
    monkeypatch.setattr(arrays, "check_length", lambda *_: np.ones(100 << 17).sum())
    assert any("MiB" in fault for fault in judge("npy", data=pack_npy((1 << 13, 1 << 13))).faults)


def test_a_number_that_is_not_finite_is_seen(judge, monkeypatch):
    table = np.array([[1.0, np.nan], [2.0, 3.0]])
    data = save({"pos_embed": table})
    assert judge("safetensors", data=data).refused == 1
    monkeypatch.setattr(arrays, "check_finite", lambda *_: None)
    assert "not finite" in judge("safetensors", data=data).faults[0]


def test_a_table_of_another_shape_is_seen(judge, monkeypatch):
    encoding = SimpleNamespace(codes=np.ones(3), file_rows=np.ones((3, 1)))
    monkeypatch.setattr(damage_judge, "read_encoding", lambda *_: encoding)
    assert "1 axes" in judge("csv", data=b"1,2\n3,4\n").faults[0]


def test_a_warning_is_seen(judge, monkeypatch):
    monkeypatch.setattr(tables, "_identify", lambda *_: warnings.warn("a word", stacklevel=1))
    assert "warned: a word" in judge("csv", 1).faults[0]


def test_a_file_that_was_changed_is_seen(judge, monkeypatch):
    monkeypatch.setattr(tables, "_identify", lambda found: found.path.write_bytes(b"1,2\n"))
    assert any("changed" in fault for fault in judge("csv", 1).faults)


@pytest.mark.parametrize(
    ("reason", "fault"),
    [("x" * 3000, "3010 characters"), ("a\x1b[0m", "not of one line"), ("a\nb", "not of one line")],
)
def test_a_message_that_is_no_line_is_seen(judge, monkeypatch, reason, fault):
    monkeypatch.setattr(damage_judge, "escape", str)
    monkeypatch.setattr(tables, "read_array", fail_with(FileError("case.csv", reason)))
    assert fault in judge("csv", data=b"1\n").faults[0]


def test_a_message_without_the_name_is_seen(judge, monkeypatch):
    monkeypatch.setattr(tables, "read_array", fail_with(FileError("", "is damaged")))
    assert "does not name" in judge("csv", data=b"1\n").faults[0]


@pytest.mark.parametrize(
    "change", [{"accepted": 0}, {"refused": 0}, {"in_header": 40}, {"reasons": {"x"}}, {"files": 9}]
)
def test_a_run_that_did_not_reach_what_it_means_to_test_fails(judge, change):
    good = Census(kind="npy", files=100, accepted=10, refused=90, in_header=80, reasons=set(map(str, range(20))))
    good.damages.update(map(str, range(20)))
    check_census(good, 100)
    with pytest.raises(AssertionError):
        check_census(dataclasses.replace(good, **change), 100)


def test_damage_is_the_same_at_every_run(good):
    for kind, originals in good.items():
        once, again = ([damage(kind, number, originals)[1] for number in range(30)] for _ in range(2))
        assert once == again
        assert len(set(once)) > 25
