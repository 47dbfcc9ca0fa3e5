"""Dumps of PyTorch's Flight Recorder, of real jobs that hang, are explained."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from distlab import cli
from distlab.records import events, flight_recorder

JOB = Path(__file__).parents[1] / "programs" / "dumped.py"
#: what `dumped.py` has left with older versions of torch, by gloo
KEPT = Path(__file__).parent / "dumps"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    """The dumps of a job of one of `dumped.py`'s kinds."""
    made = {}

    def find(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            subprocess.run([sys.executable, str(JOB), str(folder), kind], check=True, timeout=120)
            made[kind] = sorted(folder.glob("dump_rank_*"))
        return made[kind]

    return find


@pytest.mark.slow  # imports torch in a job of its own
def test_a_missing_call_is_explained_with_the_line_of_those_that_wait(dumps, capsys):
    assert cli.main(["explain", *map(str, dumps("missing"))]) == 0
    said = capsys.readouterr().out
    assert "rank 0 waits in all_reduce() at train:" in said
    assert "but rank 2 has not called it: it went no further than all_reduce() at train:" in said
    assert "error" not in said


@pytest.mark.slow  # imports torch in a job of its own
def test_waits_that_an_ended_rank_broke_are_explained_by_the_call_it_never_made(dumps):
    ranks = flight_recorder.read(dumps("gone"))
    found = flight_recorder.explain(ranks)
    assert "rank 2 has not called it: it went no further than all_reduce()" in found.message
    assert found.message.endswith("The waits of ranks 0 and 1 ended later, by an error.")
    assert [e.state for e in ranks[0].events if e.is_collective] == [
        events.DONE, events.DONE, events.FAILED,
    ]  # fmt: skip


@pytest.mark.slow  # imports torch in a job of its own
def test_every_collective_that_there_is_can_end_well(dumps, capsys):
    assert cli.main(["explain", *map(str, dumps("every"))]) == 0
    assert "every operation in the dumps has ended" in capsys.readouterr().out


@pytest.mark.slow  # imports torch in a job of its own
def test_another_collective_is_named_with_both_lines(dumps):
    found = flight_recorder.explain(flight_recorder.read(dumps("order")))
    assert found.kind == "order"
    assert "all_reduce() at train:" in found.message and "broadcast() at train:" in found.message


@pytest.mark.slow  # imports torch in a job of its own
def test_nothing_is_said_of_a_job_that_ended(dumps, capsys):
    ranks = flight_recorder.read(dumps("none"))
    assert flight_recorder.explain(ranks) is None
    assert [e.op for e in ranks[2].events if e.is_collective] == ["all_reduce"] * 3 + ["barrier"]
    assert ranks[0].events[0].op == "new_group" and ranks[0].events[0].group == (0, 1)


@pytest.fixture(params=["2.11.0", "2.12.0"])
def kept(request):
    """The dumps that a job of one of `dumped.py`'s kinds has left with an older torch."""
    return lambda kind: sorted((KEPT / f"torch-{request.param}" / kind).glob("dump_rank_*"))


def test_dumps_of_older_versions_tell_which_call_is_missing(kept, capsys):
    assert cli.main(["explain", *map(str, kept("missing"))]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for rank in (0, 1):
        assert f"rank {rank} waits in all_reduce() at train:51" in said
    assert "but rank 2 has not called it: it went no further than all_reduce() at train:51" in said


def test_the_folder_of_all_dumps_stands_for_them(kept, capsys, tmp_path):
    dumps = kept("missing")
    assert cli.main(["explain", *map(str, dumps)]) == 0
    said = capsys.readouterr().out
    assert cli.main(["explain", str(dumps[0].parent)]) == 0
    assert capsys.readouterr().out == said
    assert cli.main(["explain", str(tmp_path)]) == 1
    assert f"there is no dump in {tmp_path}: name the dumps" in capsys.readouterr().err


def test_a_program_gets_the_same_as_data(kept, capsys):
    assert cli.main(["explain", "--json", *map(str, kept("missing"))]) == 0
    told = json.loads(capsys.readouterr().out)
    verdict = told["verdict"]
    assert verdict["message"] in told["said"] and verdict["kind"] == "partial"
    waits = {wait["rank"]: (wait["call"], wait["line"], wait["needs"]) for wait in verdict["waits"]}
    assert waits == {rank: ("all_reduce", 51, [2]) for rank in (0, 1)}
    states = [[one["state"] for one in rank["operations"]] for rank in told["ranks"]]
    assert states == [["ended", "ended", "waits"]] * 2 + [["ended", "ended"]]
    assert min(rank["operations"][0]["begin"] for rank in told["ranks"]) == 0
    ends = [one["end"] for rank in told["ranks"] for one in rank["operations"]]
    assert [end is None for end in ends] == [state == "waits" for some in states for state in some]


def test_dumps_of_older_versions_tell_of_waits_that_were_broken(kept):
    found = flight_recorder.explain(flight_recorder.read(kept("gone")))
    assert "rank 2 has not called it" in found.message
    assert found.message.endswith("The waits of ranks 0 and 1 ended later, by an error.")


def test_dumps_of_older_versions_tell_of_another_collective(kept):
    found = flight_recorder.explain(flight_recorder.read(kept("order")))
    assert found.kind == "order"
    assert "all_reduce() at train:51" in found.message
    assert "broadcast() at train:57" in found.message


def test_dumps_of_older_versions_of_a_job_that_ended_accuse_nobody(kept):
    ranks = flight_recorder.read(kept("every"))
    assert flight_recorder.explain(ranks) is None
    calls = [event for rank in ranks for event in rank.events if event.is_collective]
    assert {"broadcast", "reduce", "all_gather", "gather", "scatter", "all_to_all"} <= {
        event.op for event in calls
    }
    assert {event.state for event in calls} == {events.DONE}
    assert "every operation in the dumps has ended" in flight_recorder.unexplained(ranks)


def entry(number, state="completed", op="nccl:all_reduce", **more):
    return {
        "frames": [{"name": "step", "filename": "/home/me/train.py", "line": 3}],
        "process_group": ("0", "default_pg"), "collective_seq_id": number, "p2p_seq_id": 0,
        "profiling_name": op, "time_created_ns": 10**9 * number, "input_sizes": [[2]],
        "input_dtypes": ["Float"], "state": state, "retired": state == "completed",
        "is_p2p": False, **more,
    }  # fmt: skip


def dump(path, *entries, size=2):
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(size)))}}
    told = {"version": "2.10", "pg_config": config, "entries": list(entries)}
    path.write_bytes(pickle.dumps(told))
    return path


def test_what_a_ring_buffer_has_forgotten_does_not_shift_the_others(tmp_path):
    paths = [
        dump(tmp_path / "dump_rank_0", *(entry(n) for n in range(1, 6)), entry(6, "started")),
        dump(tmp_path / "dump_rank_1", *(entry(n) for n in range(4, 6))),
    ]
    ranks = flight_recorder.read(paths)
    assert [len(rank.events) for rank in ranks] == [3, 2]
    found = flight_recorder.explain(ranks)
    assert "but rank 1 has not called it: it went no further than all_reduce() at step:3" in (
        found.message
    )


def full(numbers, *states, group="0", first=100, **more):
    """Entries of a ring buffer that has forgotten the earlier ones."""
    return [
        entry(number, state, record_id=first + number, process_group=(group, group), **more)
        for number, state in zip(numbers, states, strict=True)
    ]


def test_the_collective_is_not_numbered_by_what_a_ring_buffer_still_holds(tmp_path):
    ops = "nccl:all_reduce", "nccl:all_gather"
    paths = [
        dump(tmp_path / f"dump_rank_{r}", *full([41, 42], "completed", "started", op=ops[r]))
        for r in range(2)
    ]
    message = flight_recorder.explain(flight_recorder.read(paths)).message
    assert "each is the next collective" in message and "1st" not in message


@pytest.mark.parametrize(
    "count, silent", [(None, True), (6, True), (5, False)], ids=["no count", "called", "missing"]
)
def test_of_a_rank_that_has_forgotten_a_group_only_its_count_can_tell(tmp_path, count, silent):
    status = {} if count is None else {"0": {"last_enqueued_collective": count}}
    waits = dump(tmp_path / "dump_rank_0", *full([6], "started"))
    other = dump(tmp_path / "dump_rank_1", *full(range(1, 3), "completed", "completed", group="1"))
    told = pickle.loads(other.read_bytes())
    other.write_bytes(pickle.dumps(told | {"pg_status": status}))
    ranks = flight_recorder.read([waits, other])
    found = flight_recorder.explain(ranks)
    assert (found is None) == silent
    if silent:
        assert "the buffer of rank 1 has lost calls" in flight_recorder.unexplained(ranks)
    else:
        assert "but rank 1 has not called it" in found.message


def test_a_collective_that_all_have_called_hangs_for_reasons_of_its_own(tmp_path):
    paths = [dump(tmp_path / f"dump_rank_{r}", entry(1, "started")) for r in range(2)]
    ranks = flight_recorder.read(paths)
    assert flight_recorder.explain(ranks) is None
    assert "network" in flight_recorder.unexplained(ranks)
    assert ranks[0].waiting() is not None


def test_messages_that_a_ring_buffer_has_forgotten_are_not_missed(tmp_path):
    def message(number, text, state="completed"):
        return entry(number, state, f"nccl:{text}", is_p2p=True, record_id=99 + number)

    paths = [
        dump(tmp_path / "dump_rank_0", message(1, "send 0->1"), entry(1, record_id=101)),
        dump(
            tmp_path / "dump_rank_1", message(1, "recv 1<-0"), message(2, "recv 1<-0"),
            message(3, "recv 1<-0"), entry(1, record_id=103),
        ),
    ]  # fmt: skip
    assert flight_recorder.explain(flight_recorder.read(paths)) is None


def test_messages_of_nccl_that_cross_are_a_cycle(tmp_path):
    paths = [
        dump(tmp_path / f"r{r}", entry(1, "started", f"nccl:recv {r}<-{1 - r}", is_p2p=True))
        for r in range(2)
    ]
    found = flight_recorder.explain(flight_recorder.read(paths))
    assert found.kind == "cycle" and "rank 0 waits in recv(src=1) at step:3" in found.message


class Malice:
    def __reduce__(self):
        return print, ("harm",)


@pytest.mark.parametrize(
    "data", [b"nonsense", b"", b"{}", pickle.dumps([1]), pickle.dumps({"entries": [Malice()]}),
             pickle.dumps({"entries": [{}]})],
)  # fmt: skip
def test_what_is_no_dump_is_refused_and_never_run(tmp_path, capsys, data):
    path = tmp_path / "dump_rank_0"
    path.write_bytes(data)
    with pytest.raises(flight_recorder.Unreadable):
        flight_recorder.read([path])
    assert "harm" not in capsys.readouterr().out


@pytest.mark.parametrize("config", [[], "text", {"0": [0, 1]}])
@pytest.mark.parametrize("line", [3, "three"])
def test_a_dump_of_another_form_is_refused(tmp_path, config, line):
    frames = [{"name": "step", "filename": "/home/me/train.py", "line": line}]
    told = {"version": "9", "pg_config": config, "entries": [entry(1, frames=frames)]}
    path = tmp_path / "dump_rank_0"
    path.write_text(json.dumps(told))
    if config or line == "three":
        with pytest.raises(flight_recorder.Unreadable):
            flight_recorder.read([path])
    else:
        assert len(flight_recorder.read([path])) == 1


def test_a_rank_without_a_dump_is_told_of(tmp_path):
    ranks = flight_recorder.read([dump(tmp_path / "dump_rank_0", entry(1, "started"))])
    assert ranks[1].progress == events.UNKNOWN
    message = flight_recorder.explain(ranks).message
    assert "there is no dump of rank 1, which may not have called it" in message
