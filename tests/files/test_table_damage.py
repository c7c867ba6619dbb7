"""Damaged table files give our error or numbers, and nothing else, within bounded memory."""

import os
import random
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.errors import FileError, PeSpectraError
from pe_spectra.files import safetensors_file
from pe_spectra.files.tables import read_array
from tests.files.forms import (
    HEAD,
    TABLE,
    entry,
    npy_bytes,
    npy_header,
    pack,
    read_or_refuse,
    refuse,
    write,
    write_shards,
    zip_members,
)
from tests.pace import call_within


def mutate(data, generator):
    """Change a few bytes, most of them in front; now and then cut, double or insert."""
    data = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        head = generator.random() < 0.8
        place = generator.randrange(min(len(data), 200) if head else len(data)) if data else 0
        action = generator.random()
        if action < 0.6 and data:
            data[place] = generator.choice(
                [0, 0xFF, data[place] ^ (1 << generator.randrange(8)), generator.randrange(256)]
            )
        elif action < 0.75:
            del data[place : place + generator.randint(1, 20)]
        elif action < 0.9:
            data[place:place] = generator.choice(
                [b"9" * 20, b"-1", b"[", b"(", b'"', b"\\", b"\n", b",", b"1e999", bytes(8)]
            )
        else:
            del data[place:]
    return bytes(data)


@pytest.mark.slow
def test_damaged_files_give_our_error_or_numbers_and_nothing_else(tmp_path):
    np.savez_compressed(tmp_path / "b.npz", pe=TABLE, other=TABLE)
    save_file({"pos_embed": TABLE, "a": TABLE.astype(np.float32), "c": np.ones(3)}, tmp_path / "c.safetensors")
    np.save(tmp_path / "a.npy", TABLE)
    np.savetxt(tmp_path / "d.csv", TABLE, delimiter=",", header="position,b,c,d,e", comments="", fmt="%.3f")
    write_shards(tmp_path / "m", {"pos_embed": TABLE}, {"a": TABLE})
    index = tmp_path / "m" / "model.safetensors.index.json"
    originals = {path: path.read_bytes() for path in [*tmp_path.glob("?.*"), index]}
    assert len(originals) == 5
    outcomes = {True: 0, False: 0}
    for path, original in originals.items():
        generator = random.Random(path.name)
        for number in range(400):
            path.write_bytes(mutate(original, generator))
            found = call_within(1, lambda path=path: read_or_refuse(path))
            refused = isinstance(found, PeSpectraError)
            outcomes[not refused] += 1
            if refused:
                assert "allow_pickle" not in str(found), (path.name, number)
                assert len(str(found)) < 1000, (path.name, number)
            else:
                assert np.isfinite(found.values).all(), (path.name, number)
        path.write_bytes(original)
    # a run that only ever refuses, or never does, tests nothing
    assert min(outcomes.values()) > 50, outcomes


def test_memory_stays_bounded_when_headers_claim_much(tmp_path):
    claims = [
        ("a.npy", npy_header("{" + HEAD + "(8192, 8192)}", data=bytes(16))),
        ("b.safetensors", pack({"a": entry((8192, 8192), 0, 8192 * 8192 * 4)}, bytes(16))),
        ("c.npz", None),
    ]
    zip_members(tmp_path / "c.npz", [("a.npy", claims[0][1])])
    for name, data in claims:
        path = write(tmp_path / name, data) if data else tmp_path / name
        tracemalloc.start()
        assert "is cut off" in refuse(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 << 20


def test_a_file_that_shrinks_while_it_is_read_is_our_error(tmp_path, monkeypatch):
    path = tmp_path / "t.safetensors"
    save_file({"a": TABLE}, path)
    whole = safetensors_file._read_entries

    def cut(file):
        found = whole(file)
        os.truncate(path, path.stat().st_size - 1)
        return found

    monkeypatch.setattr(safetensors_file, "_read_entries", cut)
    assert "ends before its data do" in refuse(path)


def test_an_archive_that_promises_a_comment_and_ends_is_not_complete(tmp_path):
    """The library would take the archive as it is: what was cut off behind it is not missed."""
    path = zip_members(tmp_path / "a.npz", [("a.npy", npy_bytes(TABLE))])
    data = path.read_bytes()
    path.write_bytes(data[:-2] + b"\x05\x00")
    with pytest.raises(FileError, match="is no complete zip archive"):
        read_array(path)
