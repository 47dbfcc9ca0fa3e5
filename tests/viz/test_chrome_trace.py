"""The trace of a run opens in Perfetto and chrome://tracing: its format, field by field."""

import json
import time
from collections import defaultdict

import pytest
from test_timeline import add, exchange, long_run, world

from distlab.records.events import INTERNAL, RUNNING
from distlab.viz import chrome_trace


def overlapping():
    """Two non-blocking sends at once, an operation of DDP's, and a rank that hangs."""
    records = world(2, RUNNING)
    add(records, 0, "send", 0.002, 0.006, 1, blocking=False, wait=0.005, tag=1)
    add(records, 0, "send", 0.003, 0.007, 1, blocking=False, wait=0.0065, tag=2)
    add(records, 1, "recv", 0.002, 0.0055, 0, tag=1)
    add(records, 1, "recv", 0.0056, 0.0066, 0, tag=2)
    for rank in range(2):
        add(
            records,
            rank,
            "all_reduce",
            0.007,
            0.008,
            blocking=False,
            api="backward",
            flags=INTERNAL,
        )
    add(records, 1, "recv", 0.009, None, 0)
    return records


RUNS = {
    "exchange": exchange(),
    "overlapping": overlapping(),
    "long": long_run(40),
    "empty": world(2),
}


@pytest.fixture(params=RUNS)
def events(request):
    return chrome_trace.chrome_trace(RUNS[request.param])["traceEvents"]


def slices(events):
    return [event for event in events if event["ph"] == "X"]


def test_every_event_has_what_its_phase_requires(events):
    for event in events:
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is int and type(event["tid"]) is int
        assert event["ph"] in ("X", "M", "s", "f")
        if event["ph"] != "M":
            assert isinstance(event["ts"], float) and event["ts"] >= 0
            assert isinstance(event["cat"], str)
        if event["ph"] == "X":
            assert isinstance(event["dur"], float) and event["dur"] >= 0
        if event["ph"] in ("s", "f"):
            assert type(event["id"]) is int


def test_times_never_go_back(events):
    times = [event["ts"] for event in events if event["ph"] != "M"]
    assert times == sorted(times)


def test_flows_come_in_pairs_and_lie_within_a_slice_of_their_thread(events):
    flows = defaultdict(list)
    for event in events:
        if event["ph"] in ("s", "f"):
            flows[event["id"]].append(event)
            assert any(
                s["ts"] <= event["ts"] <= s["ts"] + s["dur"]
                for s in slices(events)
                if (s["pid"], s["tid"]) == (event["pid"], event["tid"])
            )
    for pair in flows.values():
        assert [event["ph"] for event in pair] == ["s", "f"]
        assert pair[0]["pid"] != pair[1]["pid"]
        assert pair[1]["bp"] == "e"


def test_slices_of_one_thread_nest(events):
    threads = defaultdict(list)
    for event in slices(events):
        threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in threads.values():
        open_ends = []
        for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= begin + 2e-3:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 2e-3, "µs, rounded to three decimals"
            open_ends.append(end)


def test_every_rank_is_a_process_with_its_name_and_place():
    events = chrome_trace.chrome_trace(overlapping())["traceEvents"]
    named = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert named == {0: "rank 0 (did not end)", 1: "rank 1 (did not end)"}
    orders = {
        e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"
    }
    assert orders == {0: 0, 1: 1}
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in slices(events)} <= threads


def test_times_are_microseconds_since_the_run_began():
    found = slices(chrome_trace.chrome_trace(exchange())["traceEvents"])
    send = next(event for event in found if event["name"] == "send(dst=1)")
    assert send["ts"] == pytest.approx(1000)
    assert send["dur"] == pytest.approx(2000)
    assert send["args"] == {"at": "step:3", "call": "send(dst=1)", "carries": "1 element · 4 B",
                            "bytes": 4, "dtype": "float32", "first element": 7.0}  # fmt: skip


def test_each_message_that_arrived_is_one_flow():
    events = chrome_trace.chrome_trace(long_run(40))["traceEvents"]
    assert sum(event["ph"] == "s" for event in events) == 4 * 40
    assert not [e for e in chrome_trace.chrome_trace(world(2))["traceEvents"] if e["ph"] == "s"]


def test_waits_and_unfinished_operations_are_slices_too():
    found = slices(chrome_trace.chrome_trace(overlapping())["traceEvents"])
    assert sum(e["cat"] == "wait" for e in found) == 2
    unfinished = [e for e in found if e["args"].get("ended") == "never finished"]
    assert [e["name"] for e in unfinished] == ["recv(src=0)"]
    assert unfinished[0]["dur"] > 0
    assert any(e["name"] == "all_reduce (DDP bucket)" and e["cat"] == "internal" for e in found)


def test_the_file_is_plain_json_without_nan(tmp_path):
    records = exchange()
    records[0].events[0].value = float("inf")
    records[1].events[0].value = float("nan")
    path = chrome_trace.write(records, tmp_path / "run.json")

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    read = json.loads(path.read_text("utf-8"), parse_constant=refuse)
    assert read["displayTimeUnit"] in ("ms", "ns")
    assert read["traceEvents"] == chrome_trace.chrome_trace(records)["traceEvents"]
    assert "2 messages" in read["otherData"]["summary"]


def test_many_requests_under_way_at_once_take_no_time_by_the_square_of_them():
    records, many = world(2, RUNNING), 40_000
    for number in range(many):
        add(records, 0, "send", 0.001 + number * 1e-7, None, 1, blocking=False, wait=None)
    begin = time.process_time()
    trace = chrome_trace.chrome_trace(records)
    assert time.process_time() - begin < 8  # 25 s where each looks through all threads
    sends = [one for one in trace["traceEvents"] if one.get("cat") == "message"]
    assert sorted(one["tid"] for one in sends) == list(range(1, many + 1))
