"""Writers that are killed, and writers beside each other: every file is whole, the old one or the new one."""

import pytest

from tests.writing import run_apart

#: Temporary files that 200 kills may leave where the system makes them without a name. Chance decides how many
#: kills meet a file between its name and its place, the more the faster the disk: about 1 with one file and 3 with
#: two on a disk, 7 and 9 on one in memory. At twice these shares chance goes beyond the bound less than once in a
#: million runs; writers whose temporaries have names from the start leave 100 and 140.
MOST_TEMPORARIES = 60


def kill(folder, kind, way, count, *, seed):
    """Kill living writers at random moments; give how many temporary files they left."""
    found = run_apart("kill_writers", kind, way, count, seed, folder=folder)
    assert found["alive"] == count
    assert found["commits"] >= count
    assert found["torn"] == 0
    assert found["strays"] == []
    return found["temporaries"]


@pytest.mark.parametrize(
    ("kind", "way", "count"), [("one", "unnamed", 12), ("several", "unnamed", 8), ("several", "named", 4)]
)
def test_a_killed_writer_leaves_whole_files(tmp_path, kind, way, count):
    # how many of so few are killed at the wrong moment is chance
    assert kill(tmp_path, kind, way, count, seed=1) <= count * (1 if kind == "one" else 3)


def kill_before_each_call(folder, way, count):
    """Kill writers before each of their calls; give the most temporaries left, and the calls after which any were."""
    found = run_apart("kill_before_each_call", count, way, folder=folder)
    made = found[-1]["made"]
    assert len(found) == len(made) + 1
    assert all(trial["torn"] == 0 and trial["made"] == made[:number] for number, trial in enumerate(found))
    return max(trial["left"] for trial in found), {trial["made"][-1] for trial in found if trial["left"]}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_temporary_has_a_name_only_while_names_change(tmp_path, count):
    """Never while bytes are written or synced, which takes long: of all files but the last there is a backup, too."""
    most, calls = kill_before_each_call(tmp_path, "unnamed", count)
    assert most == 2 * count - 1
    assert calls <= {"link", "close", "replace", "unlink"}


def test_names_from_the_start_would_be_seen(tmp_path):
    most, calls = kill_before_each_call(tmp_path, "named", 1)
    assert most == 1
    assert {"write", "fsync"} <= calls


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "several", "program"])
def test_two_hundred_killed_writers(tmp_path, kind):
    assert kill(tmp_path, kind, "unnamed", 200, seed=2) <= MOST_TEMPORARIES


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "several"])
def test_killed_writers_where_every_temporary_has_a_name(tmp_path, kind):
    """Elsewhere than on Linux more is left, never more than the files of a call and their second names."""
    assert kill(tmp_path, kind, "named", 100, seed=3) <= 100 * (1 if kind == "one" else 3)


def write_beside(folder, kind, *, writers, times, rounds):
    """Let writers write at once while somebody reads."""
    found = run_apart("write_beside_each_other", kind, writers, times, rounds, folder=folder)
    assert (found["torn"], found["failed"]) == (0, 0)
    assert found["reads"] > rounds
    assert found["versions"] > 1
    shared = "table.npy" if kind == "commands" else "common"
    assert [name for name in found["names"] if not name.startswith("own-")] == [shared]


@pytest.mark.few(1, keep=["pairs"])
@pytest.mark.parametrize("kind", ["letters", "pairs", "commands"])
def test_writers_beside_each_other_leave_whole_answers(tmp_path, kind):
    write_beside(tmp_path, kind, writers=4, times=2, rounds=2)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rounds"), [("letters", 20), ("pairs", 20), ("commands", 2)])
def test_sixteen_writers_beside_each_other(tmp_path, kind, rounds):
    write_beside(tmp_path, kind, writers=16, times=5, rounds=rounds)
