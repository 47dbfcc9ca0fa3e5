"""Horovod: what it was built for, its timeline, and that its operations meet by name. Nothing here
needs it to be installed.
"""

import dataclasses
import json
import zlib

import pytest

from distlab.course import find, named
from distlab.course.lab07_horovod import timeline
from distlab.course.lab07_horovod.ranks import variables
from distlab.processes import frameworks
from distlab.records.deadlock import Watcher
from distlab.records.events import DONE, POSTED, RUNNING, Event, RankRecord
from distlab.records.matching import Ledger
from distlab.training import digits


def event(rank, index, name, state=POSTED, waits=False):
    return Event(
        rank, index, "all_reduce", "allreduce", (0, 1), 0, None, zlib.crc32(name.encode()) >> 2, 4,
        "float32", (1,), 1, "avg", "f", "cell", 3, state, 0, 1.0, 2.0 if state == DONE else 0.0,
        1.5 if waits else 0.0, 0.0, 0.0, name,
    )  # fmt: skip


def ledger(*ranks):
    made = Ledger(2)
    made.update([RankRecord(r, 2, RUNNING, 1.0, 0.0, list(e)) for r, e in enumerate(ranks)])
    return made


def test_operations_of_other_orders_meet_by_their_names():
    both = ledger([event(0, 0, "a"), event(0, 1, "b")], [event(1, 0, "b"), event(1, 1, "a")])
    assert both.conflicts == []
    assert [both.absentees(rank, at) for rank in (0, 1) for at in (0, 1)] == [[], [], [], []]


def test_workers_that_wait_for_other_names_are_a_deadlock():
    records = [
        RankRecord(r, 2, RUNNING, 1.0, 0.0, [event(r, 0, name, waits=True)])
        for r, name in enumerate(["loss.0", "loss.1"])
    ]
    watcher = Watcher()
    watcher(records, set())
    found = watcher(records, set())
    assert found.kind == "order"
    assert "allreduce(name=loss.0)" in found.message and "by their names" in found.message
    assert "the same order" not in found.hint


def test_a_name_that_is_no_plain_name_is_not_repeated():
    assert str(event(0, 0, "fc1.weight")) == "allreduce(name=fc1.weight)"
    assert str(event(0, 0, "secret: 7\n")) == "allreduce()"
    assert str(dataclasses.replace(event(0, 0, "x"), tag=0)) == "allreduce()"


@pytest.mark.parametrize(("rank", "place"), [(0, "0 2 0 2"), (2, "0 1 1 2"), (1, "1 2 0 1")])
def test_ranks_of_two_machines_are_told_what_horovodrun_tells(rank, place):
    told = variables(rank, 3, per_node=2, port=5)
    names = ("LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")
    assert " ".join(told[f"HOROVOD_{name}"] for name in names) == place
    assert told["HOROVOD_RANK"] == str(rank) and told["HOROVOD_GLOO_RENDEZVOUS_PORT"] == "5"


EVENTS = [
    {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "allreduce.w"}},
    {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 1000, "pid": 1},
    {"ph": "X", "name": "0", "ts": 1001, "pid": 1, "dur": 0},
    {"ph": "E", "ts": 2000, "pid": 1},
    {"ph": "B", "name": "ALLREDUCE", "ts": 2000, "pid": 1},
    {"ph": "B", "name": "GLOO_ALLREDUCE", "ts": 2100, "pid": 1},
    {"ph": "E", "ts": 2400, "pid": 1},
    {"ph": "E", "ts": 2500, "pid": 1},
]


@pytest.mark.parametrize("end", ["]", ",\n", "", ',\n{"ph": "B", "name": "ALLRED'])
def test_a_timeline_is_read_also_where_its_list_was_left_open(tmp_path, end):
    file = tmp_path / "timeline.json"
    file.write_text("[\n" + ",\n".join(map(json.dumps, EVENTS)) + end)
    read = timeline.read(file)
    assert [(a.name, round(a.end - a.begin, 6)) for a in read.activities] == [
        ("NEGOTIATE_ALLREDUCE", 0.001), ("ALLREDUCE", 0.0005), ("GLOO_ALLREDUCE", 0.0003),
    ]  # fmt: skip
    assert read.ready == [timeline.Ready("allreduce.w", 0, 0.001001)]
    assert read.step(0) == read


def test_a_step_ends_where_the_next_begins_though_not_all_of_that_was_written():
    activities = [
        timeline.Activity(f"allreduce.{tensor}", "NEGOTIATE_ALLREDUCE", begin, begin + 1)
        for tensor, begin in [("b", 1), ("w", 2), ("b", 8)]
    ]
    whole = timeline.Timeline(activities, [timeline.Ready("allreduce.b", 1, 8.5)], [])
    assert whole.step(0) == timeline.Timeline(activities[:2], [], [])
    assert whole.step(1) == timeline.Timeline(activities[2:], whole.ready, [])


def test_what_is_no_timeline_is_refused(tmp_path):
    file = tmp_path / "timeline.json"
    file.write_text("{}")
    with pytest.raises(ValueError, match="does not begin with"):
        timeline.read(file)


@pytest.mark.parametrize("name", ["GLOO_ALLREDUCE", "MPI_BCAST"])
def test_what_only_holds_other_work_has_no_colour(name):
    assert timeline.kind(name) == "REDUCE"
    assert timeline.kind("ALLREDUCE") is timeline.kind("WAIT_FOR_DATA") is None


def test_a_horovod_without_tensorflow_is_told_in_one_sentence(monkeypatch):
    torch = frameworks.importlib.metadata.version("torch")
    monkeypatch.setattr(frameworks.Framework, "version", "2.21.0")
    monkeypatch.setattr(frameworks, "horovod_built_for", lambda: {"pytorch": torch})
    assert frameworks.missing(["horovod"]) == ""
    said = frameworks.missing(["horovod", "tensorflow"], "Lab 07-horovod")
    assert said.startswith("Lab 07-horovod needs Horovod for tensorflow 2.21.0, but the one")
    assert "\n" not in said and "make horovod" in said


def test_an_exercise_name_of_two_labs_means_both():
    assert {one.lab for one in named("train_epoch")} == {"03-cifar10-ddp", "07-horovod"}
    assert find("07-horovod/train_epoch").lab == "07-horovod"


def test_digits_are_there_without_a_network(tmp_path):
    found = digits.load(tmp_path)
    image, label = found.test[0]
    assert image.shape == (1, 28, 28) and 0 <= int(label) < 10
    assert len(found.test) == 360 and len(found.train) == 9 * 1437
