"""Files of tests are given out to the workers as xdist does it, case by case, without its ways through all cases."""

import random
from types import SimpleNamespace

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.giving_out import FilesInTurn, Numbered

#: Cases of files of very different sizes, in the order in which they are collected.
CASES = [f"tests/test_{file}.py::test_it[{case}]" for file in range(40) for case in range(1 + 7 * file % 23)]

CONFIG = SimpleNamespace(getvalue=lambda _: ["popen"] * 3, option=SimpleNamespace(loadscopereorder=True), hook=None)


class Worker:
    """What is sent to a worker."""

    def __init__(self):
        self.sent, self.shutting_down = [], False
        self.gateway = SimpleNamespace(id="one")

    def send_runtest_some(self, places):
        self.sent += places

    def shutdown(self):
        self.shutting_down = True


def give_out(kind, lost=None):
    """Give out all cases to three workers, which end them in an order drawn at random; one may be lost on the way."""
    config = SimpleNamespace(getvalue=lambda _: ["popen"] * 3, option=SimpleNamespace(loadscopereorder=True), hook=None)
    scheduling, workers, drawn = (
        kind(config, Producer("", enabled=False)),
        [Worker() for _ in range(3)],
        random.Random(0),
    )
    for worker in workers:
        scheduling.add_node(worker)
        scheduling.add_node_collection(worker, CASES)
    scheduling.schedule()
    done, told = [0, 0, 0], []
    for step in range(10 * len(CASES)):
        busy = [at for at, worker in enumerate(workers) if done[at] < len(worker.sent)]
        if not busy:
            break
        at = drawn.choice(busy)
        if step == lost:
            told.append(scheduling.remove_node(workers[at]))
            done[at] = len(workers[at].sent)
            continue
        scheduling.mark_test_complete(workers[at], workers[at].sent[done[at]])
        done[at] += 1
        told.append((scheduling.tests_finished, scheduling.has_pending))
    return [worker.sent for worker in workers], told


def test_cases_go_to_the_workers_to_which_xdist_gives_them():
    found = give_out(FilesInTurn)
    assert found == give_out(LoadFileScheduling)
    assert sorted(place for places in found[0] for place in places) == [*range(len(CASES))]


@pytest.mark.parametrize("lost", [3, 150])
def test_what_a_lost_worker_had_left_goes_to_the_others(lost):
    sent, told = give_out(FilesInTurn, lost)
    assert told[lost] in CASES
    assert told[: lost + 1] == give_out(LoadFileScheduling, lost)[1][: lost + 1]
    assert {place for places in sent for place in places} == {*range(len(CASES))}
    assert told[-1] == (True, False)


def test_a_case_is_found_without_looking_through_all():
    class Name(str):
        compared = 0

        def __hash__(self):
            return str.__hash__(self)

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

    names = Numbered([Name(case) for case in CASES])
    assert [names.index(case) for case in CASES] == [*range(len(CASES))]
    assert Name.compared <= 2 * len(CASES)


def test_places_of_what_a_worker_collected_are_kept():
    scheduling, worker = FilesInTurn(CONFIG, Producer("", enabled=False)), Worker()
    scheduling.add_node(worker)
    scheduling.add_node_collection(worker, CASES)
    assert isinstance(scheduling.registered_collections[worker], Numbered)


def test_files_of_which_all_has_run_are_forgotten():
    workload = {"a": {"a::1": True, "a::2": True}, "b": {"b::1": True, "b::2": False}}
    assert FilesInTurn._pending_of(None, workload) == 1
    assert list(workload) == ["b"]
