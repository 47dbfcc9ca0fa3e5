"""Workers that share a store: each calls at its moment, and none of them can hold up a judge."""

import datetime
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import cloudpickle
import pytest

from distlab.course.lab09_when_it_breaks import meeting
from distlab.course.lab09_when_it_breaks.meeting import HASH, SLOW, TCP, Answer, Call, Meeting
from distlab.course.lab09_when_it_breaks.meeting_picture import Met, meet
from distlab.course.lab09_when_it_breaks.slow_store import SlowStore
from distlab.engines.results import RunFailed
from distlab.processes.wrong_argument import WrongArgument

PATIENCE = 120.0


def arrive(store, name):
    return name, store.add("arrivals", 1), os.getpid()


def wait_forever(store):
    store.wait(["nobody sets this"], datetime.timedelta(hours=1))


@pytest.mark.parametrize("store", [HASH, TCP, meeting.PREFIXED_HASH, meeting.PREFIXED_TCP])
def test_all_workers_see_one_store(store):
    with Meeting(arrive, 3, store) as held:
        answers = held.hold([Call(0.0, (name,)) for name in "abc"], PATIENCE)
    names, places, processes = zip(*(answer.value for answer in answers), strict=True)
    assert names == ("a", "b", "c")
    assert sorted(places) == [1, 2, 3]
    assert len(set(processes)) == (3 if TCP in store else 1)
    assert os.getpid() not in processes


def test_a_worker_calls_at_its_moment_or_not_at_all():
    for at in (0.3, 1.0, 3.0, 9.0):  # a busy machine is late with the early one too
        with Meeting(arrive, 3, HASH) as held:
            answers = held.hold([Call(at, ("late",)), None, Call(0.0, ("early",))], PATIENCE)
        assert answers[1] is None and answers[0].called >= at
        if answers[2].called < at / 2:
            break
    assert answers[2].called < at
    assert answers[2].value[1] == 1 and answers[0].value[1] == 2


def test_a_worker_that_waits_forever_is_given_up_and_ended():
    with Meeting(wait_forever, 2, TCP) as held:
        pids = [pid for pid, _ in held._hosts]
        answers = held.hold([Call(0.0), None], patience=0.3)
        assert answers[0].returned is None
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_workers_of_a_meeting_make_one_call_after_the_other():
    with Meeting(arrive, 2, TCP) as held:
        held.hold([Call(0.0, ("a",)), Call(0.0, ("b",))], PATIENCE)
        (answer, _) = held.hold([Call(0.0, ("a",)), None], PATIENCE)
    assert answer.value[:2] == ("a", 3)


def fail(store, how):
    if how == "raise":
        raise ValueError("of no use")
    if how == "die":
        os._exit(3)
    return how


def test_what_a_worker_raises_or_dies_of_is_told_and_the_others_answer():
    with Meeting(fail, 3, TCP) as held:
        calls = [Call(0.0, (how,)) for how in ("raise", "die", "return")]
        raised, died, returned = held.hold(calls, PATIENCE)
    assert raised.error["type"] == "ValueError" and raised.error["message"] == "of no use"
    assert died.died and not raised.died
    assert returned.value == "return"


@pytest.mark.parametrize(("how", "told"), [("raise", "of no use"), ("die", "in the middle of")])
def test_a_drawn_meeting_ends_with_what_ended_a_worker(how, told):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as functions of a notebook travel
    with pytest.raises(RunFailed, match=told):
        meet(fail, {"a": (0.0, ("return",)), "b": (0.1, (how,)), "c": None}, patience=PATIENCE)


@pytest.mark.parametrize("calls", [3, [1, 2], {"a": 3}, {"a": (0.0, 3)}, {"a": ("b", ())}])
def test_a_meeting_of_what_is_no_calls_is_refused_in_a_sentence(calls):
    with pytest.raises(WrongArgument, match="takes the calls as a dictionary"):
        meet(fail, calls)


def test_arguments_that_do_not_fit_the_function_are_refused_in_a_sentence():
    told = r"then with a worker's arguments, here \(3, 4\) \(too many positional arguments\)"
    with pytest.raises(WrongArgument, match=told):
        meet(fail, {"a": (0.0, ("return",)), "b": (0.0, (3, 4))})


def test_a_meeting_says_who_got_what_and_who_still_waits():
    answers = [Answer(0.0, 0.5, [1]), Answer(0.0, None, None), None]
    assert repr(Met(["a", "b", "c"], answers, 1.0)) == "a got [1]\nb still waits\nc did not call"


def tell_the_time(store):
    begin = monotonic()
    while monotonic() < begin + 0.05:  # by the clock that is measured
        os.sched_yield()
    now = datetime.datetime.now().timestamp()
    return time.time(), time.monotonic(), monotonic(), now, monotonic() - begin


def test_clocks_that_differ_do_so_for_whatever_python_code_asks():
    # by value, as functions of a notebook travel: what they import by name is then looked up again
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with Meeting(tell_the_time, 3, TCP, clocks_differ=True) as held:
        answers = held.hold([Call(0.0)] * 3, PATIENCE)
    for worker, answer in enumerate(answers):
        *shown, slept = answer.value
        here = time.time(), time.monotonic(), time.monotonic(), time.time()
        for clock, mine in zip(shown, here, strict=True):
            assert abs(clock - mine - worker * meeting.APART) < meeting.APART / 4
        assert 0.05 <= slept < meeting.APART / 4
        assert 0 <= answer.called <= answer.returned < PATIENCE


def seconds_of_a_look(store):
    begin = monotonic()
    store.check(["anything"])
    return monotonic() - begin


def test_on_a_slow_store_an_operation_takes_every_second_worker_longer():
    with Meeting(seconds_of_a_look, 2, SLOW) as first_slow:
        slow, quick = first_slow.hold([Call(0.0)] * 2, PATIENCE)
    assert slow.value >= meeting.SLOWNESS and quick.value >= meeting.SLOWNESS / 10
    with Meeting(seconds_of_a_look, 2, meeting.SLOW_OTHERS) as second_slow:
        quick, slow = second_slow.hold([Call(0.0)] * 2, PATIENCE)
    assert slow.value >= meeting.SLOWNESS and quick.value >= meeting.SLOWNESS / 10


def seconds_of_reading_and_writing(store):
    begin = monotonic()
    store.check(["anything"])
    read = monotonic()
    store.add("number", 1)
    return read - begin, monotonic() - read


def test_to_a_store_that_is_slow_for_writers_every_second_worker_writes_late_and_reads_at_once():
    with Meeting(seconds_of_reading_and_writing, 2, meeting.SLOW_WRITERS, slowness=2.0) as held:
        quick, slow = held.hold([Call(0.0)] * 2, 2.0 + PATIENCE)
    assert slow.value[0] < 2.0 <= slow.value[1] and quick.value[1] >= 0.2


def through_a_prefix(store):
    import torch.distributed as dist

    inner = dist.PrefixStore("p", store)
    inner.set("a", "1")
    swapped = inner.compare_set("a", "1", "2")
    return inner.add("n", 2), inner.get("a"), swapped, inner.check(["a", "b"]), inner.num_keys()


def test_a_slow_store_can_be_prefixed():
    with Meeting(through_a_prefix, 1, SLOW, slowness=0.01) as held:
        (answer,) = held.hold([Call(0.0)], PATIENCE)
    assert answer.error is None
    total, value, swapped, both, _ = answer.value
    assert (total, both) == (2, False)
    assert repr(value) == repr(swapped) == "<builtins.bytes>"


def given_up_on(store, prefixed):
    import torch.distributed as dist

    seen = dist.PrefixStore("p", store) if prefixed else store
    seen.set_timeout(datetime.timedelta(seconds=0.05))
    try:
        seen.get("nobody sets this")
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("prefixed", [False, True])
def test_a_slow_store_waits_no_longer_than_the_timeout_that_was_set(prefixed):
    with Meeting(given_up_on, 1, SLOW, slowness=0.01) as held:
        (answer,) = held.hold([Call(0.0, (prefixed,))], PATIENCE)
    assert "timeout" in answer.value.lower()


def test_the_timeout_of_a_slow_store_is_no_other_workers():
    import torch.distributed as dist

    shared = dist.HashStore()
    hasty, patient = SlowStore(shared, 0.001), SlowStore(shared, 0.001)
    hasty.set_timeout(datetime.timedelta(seconds=0.05))
    for wait in (
        lambda: hasty.get("never"), lambda: hasty.wait(["never"]),
        lambda: hasty.multi_get(["never"]), lambda: hasty.queue_pop("never"),
    ):  # fmt: skip
        with ThreadPoolExecutor(1) as pool:
            got = pool.submit(patient.get, "later")
            with pytest.raises(RuntimeError):
                wait()
            shared.set("later", "1")
            assert got.result() == b"1"
        shared.delete_key("later")
    shared.queue_push("queue", "1")
    assert patient.queue_pop("queue") == b"1"
