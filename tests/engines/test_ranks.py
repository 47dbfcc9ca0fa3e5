"""Warm ranks as a notebook uses them: nothing can hang it, nothing stays behind."""

import _thread
import asyncio
import concurrent.futures
import contextlib
import datetime
import faulthandler
import gc
import json
import linecache
import logging
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import warnings
import weakref
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import ipyparallel
import numpy
import pytest
import torch
import torch.distributed as dist

from distlab import Job, Ranks, RunFailed, check, each, meet, slow_links, submit, terminal
from distlab.engines.ipyparallel import LocalEngines
from distlab.engines.ranks import NoFunction, clustered, end_local, local, sources_of
from distlab.engines.warm import WarmRanks
from distlab.notebook import load
from distlab.processes import disk_room
from distlab.processes.ports import Held
from distlab.processes.wrong_argument import WrongArgument
from distlab.processes.zygote import ZygoteLost

cloudpickle.register_pickle_by_value(sys.modules[__name__])
KINDS = {"bare": (local, WarmRanks), "ipyparallel": (clustered, LocalEngines)}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def ranks(kind):
    """Four ranks of this machine, of each kind."""
    begin, made = KINDS[kind]
    if type(local(4)) is not made:
        end_local()
    assert type(begin(4)) is made
    return Ranks(4, deadline=60)


def all_reduce(rank, size, tensor):
    dist.all_reduce(tensor)
    return tensor


def test_every_rank_gets_its_own_argument_and_returns_its_own_value(ranks):
    result = ranks.run(all_reduce, each([torch.tensor([float(r)]) for r in range(4)]))
    assert [value.item() for value in result] == [6.0] * 4
    assert result[3].item() == 6.0 and result.ok


def test_what_ranks_print_is_labelled(ranks):
    def greet(rank, size):
        print(f"I am {rank} of {size}")

    result = ranks.run(greet)
    assert result.printed[2] == "I am 2 of 4\n"
    assert "[rank 2] I am 2 of 4" in repr(result)


def test_an_exception_shows_that_ranks_traceback_and_what_the_others_did(ranks):
    def fail(rank, size):
        if rank == 1:
            raise ValueError("no")
        dist.barrier()

    with pytest.raises(RunFailed) as raised:
        ranks.run(fail)
    said = str(raised.value)
    assert "rank 1 raised ValueError: no" in said and "fail:" in said
    assert "rank 0" in said and "barrier()" in said


def test_a_deadlock_ends_by_itself_with_its_explanation(ranks):
    def listen(rank, size):
        dist.recv(torch.zeros(1), src=(rank + 1) % size)

    begin = time.monotonic()
    result = ranks.run(listen, may_fail=True)
    assert not result.run.timed_out and result.run.finding.kind == "cycle"
    assert all(begin <= record.stopped <= time.monotonic() for record in result.records)
    assert all(record.stopped > record.events[-1].begin for record in result.records)
    assert all(f"rank {r} waits in recv(src={(r + 1) % 4})" in result.story() for r in range(4))


def test_a_run_over_its_deadline_is_ended_and_the_ranks_are_back_for_the_next(ranks):
    def spin(rank, size):
        while True:
            pass

    source = local(4)._source
    with pytest.raises(RunFailed, match="had not ended after 0.5 s"):
        ranks.run(spin, deadline=0.5)
    assert list(ranks.run(all_reduce, torch.ones(1)))[0].item() == 4
    assert local(4)._source is source  # forked from it, they take no seconds


def test_a_rank_that_dies_is_replaced(ranks):
    def die(rank, size):
        if rank == 2:
            os._exit(1)

    result = ranks.run(die, may_fail=True)
    assert result.run.outcomes[2].status == "crashed"
    assert ranks.run(all_reduce, torch.ones(1)).ok


def test_a_full_disk_is_told_from_a_function_that_ends_its_process(ranks, monkeypatch):
    """A record is memory in a file: who writes a page of it that has no place is ended."""

    def die(rank, size):
        if rank == 2:
            os._exit(1)

    monkeypatch.setattr(disk_room, "full", lambda folder: "No space left on device")
    with pytest.raises(RunFailed, match="the disk is full .*\n.*set TMPDIR"):
        ranks.run(die)
    assert ranks.run(all_reduce, torch.ones(1)).ok


class Refused:
    """The rank that takes this in is not let into the group of its run, at this step."""

    def __init__(self, step):
        self.step = step

    def __reduce__(self):
        return refuse, (self.step,)


def refuse(step):
    from distlab.rank.store import PromptStore

    kept = getattr(PromptStore, step)

    def refused(*_):
        setattr(PromptStore, step, kept)
        raise RuntimeError("Connection closed by peer")

    setattr(PromptStore, step, refused)


def test_a_rank_that_was_let_into_no_group_meets_the_others_in_the_next_run(ranks):
    """One where torch had begun to make it, as where a rank dies while they connect."""
    if isinstance(pool := local(4), WarmRanks):
        complete(pool)
    before = list(ranks.run(lambda rank, size: os.getpid()))
    refused = each([Refused("set"), *(Refused("__init__") for _ in range(3))])
    result = ranks.run(all_reduce, refused, may_fail=True)
    said = [one.error["message"] for one in result.run.outcomes]
    assert said == ["Connection closed by peer"] * 4
    result = ranks.run(all_reduce, torch.ones(1), may_fail=True, deadline=20)
    assert result.ok, result.story()
    assert list(ranks.run(lambda rank, size: os.getpid())) == before


def test_what_a_process_has_once_is_put_back_after_a_run(ranks, tmp_path):
    def change(rank, size):
        os.chdir(tmp_path)
        signal.setitimer(signal.ITIMER_REAL, 600)  # it would end the rank
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_grad_enabled(False)
        return os.getpid()

    def find(rank, size):
        rest = signal.getitimer(signal.ITIMER_REAL)[0]
        weight = torch.zeros(1)
        kept = (weight * torch.ones(1, requires_grad=True)).requires_grad
        return os.getpid(), os.getcwd(), rest, weight.dtype, weight.device.type, kept

    if isinstance(pool := local(4), WarmRanks):
        complete(pool)
    folders = [found[1] for found in ranks.run(find)]
    pids = list(ranks.run(change))
    expected = [(*one, 0.0, torch.float32, "cpu", True) for one in zip(pids, folders, strict=True)]
    assert list(ranks.run(find)) == expected


def _settings():
    mask = os.umask(0o022)
    os.umask(mask)
    return (
        mask, sys.getrecursionlimit(), gc.isenabled(), socket.getdefaulttimeout(), sys.gettrace(),
        numpy.geterr(), torch.is_anomaly_enabled(), torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(), torch.backends.mkldnn.matmul.fp32_precision,
        warnings.filters, type(os.environ),
    )  # fmt: skip


def test_no_setting_of_a_process_reaches_the_next_run(ranks):
    def change(rank, size):
        os.environ = {**os.environ, "LEFT": "behind"}  # noqa: B003  # that is what is tried
        os.umask(0o777)
        sys.setrecursionlimit(300)
        gc.disable()
        socket.setdefaulttimeout(0.001)
        sys.settrace(lambda *_: None)
        numpy.seterr(all="raise")
        torch.autograd.set_detect_anomaly(True)
        torch._C._set_deterministic_algorithms(True, warn_only=True)
        torch.set_float32_matmul_precision("medium")
        warnings.simplefilter("error")
        return os.getpid()

    def find(rank, size):
        warnings.warn("that is no error", stacklevel=1)
        return os.getpid(), os.environ.get("LEFT"), _settings()

    if isinstance(pool := local(4), WarmRanks):
        complete(pool)
    before = list(ranks.run(find))
    assert list(ranks.run(change)) == [pid for pid, *_ in before]
    assert list(ranks.run(find)) == before


def test_a_precision_by_its_newer_name_fails_no_run_and_does_not_reach_the_next(ranks):
    def change(rank, size):
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"
        torch.backends.fp32_precision = "tf32"
        return os.getpid()

    def find(rank, size):
        kinds = torch.backends, torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
        precisions = torch.get_float32_matmul_precision(), [one.fp32_precision for one in kinds]
        return os.getpid(), precisions

    if isinstance(pool := local(4), WarmRanks):
        complete(pool)
    before = list(ranks.run(find))
    assert list(ranks.run(change)) == [pid for pid, _ in before]
    assert list(ranks.run(find)) == before


@pytest.mark.parametrize("given", [None, 3, torch.zeros(1), "hello"])
def test_who_calls_the_function_instead_of_handing_it_over_is_told_so(ranks, given):
    with pytest.raises(NoFunction, match="name without parentheses") as failed:
        ranks.run(given)
    assert failed.value._render_traceback_() == [f"NoFunction: {failed.value}"]


def test_a_run_that_fails_shows_what_ranks_printed_and_what_an_exception_was_raised_from(ranks):
    def fail(rank, size):
        print("about to fail")
        try:
            {}["model"]
        except KeyError as error:
            raise ValueError("cannot be read") from error

    with pytest.raises(RunFailed, match="raised ValueError: cannot be read\n") as failed:
        ranks.run(fail)
    assert "\n    its cause: KeyError: 'model' at " in str(failed.value)
    story, *printed = failed.value._render_traceback_()
    assert story == f"RunFailed: {failed.value}"
    assert printed == [f"[rank {rank}] about to fail" for rank in range(4)]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Ranks("4"), lambda: Ranks(2.0), lambda: Ranks(0), lambda: Ranks(2, deadline="60"),
        lambda: Ranks(2, deadline=-1), lambda: each(1), lambda: each(1, 2), lambda: Ranks(2, 3),
        lambda: Ranks(ranks=2), check, terminal, Job, submit, lambda: meet(me), slow_links,
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_in_a_sentence(wrong):
    with pytest.raises(WrongArgument) as refused:
        wrong()
    assert refused.value._render_traceback_() == [f"WrongArgument: {refused.value}"]


def test_a_mistake_within_what_each_is_given_is_not_told_as_another():
    with pytest.raises(TypeError, match="NoneType") as raised:
        each(one + 1 for one in [None])
    assert not isinstance(raised.value, WrongArgument)


def test_a_number_of_ranks_may_be_of_numpy():
    assert repr(Ranks(True)).startswith("Ranks(1): 1 ")
    size = Ranks(numpy.int64(2)).size
    assert size == 2 and type(size) is int


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"deadline": "3"}, "deadline is a number of seconds, deadline=30 say, and '3' is of type"),
        ({"deadline": numpy.ones(2)}, r"array\(\[1., 1.\]\) is of type ndarray"),
        ({"deadline": 10**400}, "is of type int"),
        ({"deadline": 0}, "above 0, and this is 0"), ({"seed": "a"}, "seed is a whole number"),
        ({"schedules": True}, "True is of type bool"), ({"schedules": "al"}, "no schedule has"),
    ],
)  # fmt: skip
def test_wrong_options_of_a_run_are_refused_in_a_sentence(ranks, options, told):
    with pytest.raises(WrongArgument, match=told):
        ranks.run(me, **options)


def test_what_is_returned_and_cannot_be_sent_is_told_so(ranks):
    def generator(rank, size):
        yield rank

    async def coroutine(rank, size):
        return rank

    for function in (generator, coroutine):
        with pytest.raises(RunFailed, match="what the function returned cannot .* nothing yet"):
            ranks.run(function)
    with pytest.raises(RunFailed, match="what the function returned cannot be sent"):
        ranks.run(lambda rank, size: dist.group.WORLD)

    class Large:
        def __reduce__(self):
            raise MemoryError

    with pytest.raises(RunFailed, match="sent to the notebook: MemoryError"):
        ranks.run(lambda rank, size: Large())


def test_a_run_is_compared_with_another_run_and_nothing_else(ranks):
    result = ranks.run(me)
    with pytest.raises(WrongArgument, match="takes the result of another run"):
        result.compare(3)


def test_a_function_that_takes_no_rank_is_told_what_run_calls_it_with(ranks):
    with pytest.raises(RunFailed, match="run calls it with rank and size"):
        ranks.run(lambda: 3)


def test_a_rank_that_the_run_does_not_have_is_told_so(ranks):
    result = ranks.run(me)
    assert result[-1] == result[3]
    for none in (4, "a", slice(2)):
        with pytest.raises(IndexError, match="this run has ranks 0 to 3, and none is") as refused:
            result[none]
        assert refused.value._render_traceback_() == [f"NoSuchRank: {refused.value}"]


def test_whatever_a_function_raises_is_an_exception_and_ends_no_rank(ranks):
    def stop(rank, size):
        raise asyncio.CancelledError(f"rank {rank} has seen enough")

    before = list(ranks.run(lambda rank, size: os.getpid()))
    result = ranks.run(stop, may_fail=True)
    assert "rank 3 raised CancelledError: rank 3 has seen enough" in result.story()
    assert list(ranks.run(lambda rank, size: os.getpid())) == before


class Before:
    """Code that the rank which takes this in runs before it joins the others."""

    def __init__(self, code):
        self.code = code

    def __reduce__(self):
        return exec, (self.code, {})


def test_a_rank_that_ends_before_it_joins_the_others_is_told_of_and_soon(ranks):
    fails = each([Before("1 / 0" if rank == 1 else "") for rank in range(4)])
    result = ranks.run(all_reduce, fails, may_fail=True)
    first, *_, last = result.story().splitlines()
    assert first == "all_reduce did not begin: rank 1 ended before all ranks had joined the group."
    assert "rank 1 raised ZeroDivisionError: division by zero" in result.story()
    assert last == "rank 3 waited for the other ranks to join the group"
    assert result.run.seconds < 30
    assert ranks.run(all_reduce, torch.ones(1)).ok


def test_a_rank_that_dies_while_others_join_is_why_these_were_refused(ranks):
    code = """
import torch.distributed as dist
kept = dist.init_process_group
def dies(*_, **__):
    dist.init_process_group = kept
    {}
dist.init_process_group = dies
"""
    refused = code.format("raise RuntimeError('Connection closed by peer')")
    refused = f"exec(compile({refused!r}, {torch.__file__!r}, 'exec'), {{}})"  # as torch raises it
    codes = [refused, code.format("import os; os._exit(1)"), "", ""]
    result = ranks.run(all_reduce, each([Before(one) for one in codes]), may_fail=True)
    assert result.story().splitlines() == [
        "all_reduce did not begin: rank 1 ended before all ranks had joined the group.",
        "rank 0 lost rank 1 while they joined the group",
        "rank 1: its process ended before the function was called",
        "rank 2 waited for the other ranks to join the group",
        "rank 3 waited for the other ranks to join the group",
    ]
    assert ranks.run(all_reduce, torch.ones(1)).ok


def test_the_function_is_called_when_all_ranks_have_joined(ranks, tmp_path):
    """One that dies at once would take the group from those that still connect."""
    called = tmp_path / "called"
    late = f"""
import os, time
import torch.distributed as dist
kept = dist.init_process_group
def joins(*args, **kwargs):
    dist.init_process_group = kept
    kept(*args, **kwargs)
    until = time.monotonic() + 0.3
    while not os.path.exists({str(called)!r}) and time.monotonic() < until:
        os.sched_yield()
    os.environ["CALLED"] = str(os.path.exists({str(called)!r}))
dist.init_process_group = joins
"""

    def call(rank, size, _):
        if rank == 0:
            called.touch()
        return os.environ.get("CALLED")

    result = ranks.run(call, each([Before(late if rank == 3 else "") for rank in range(4)]))
    assert result[3] == "False"


def test_what_logging_was_set_up_for_in_a_run_is_printed_in_the_next(ranks):
    def log(rank, size, text):
        logging.basicConfig(format="%(message)s")
        logging.warning(text)
        sys.stdout.close()

    if isinstance(pool := local(4), WarmRanks):
        complete(pool)
    for text in ("first", "second"):
        assert ranks.run(log, text).printed == [f"{text}\n"] * 4


def test_a_mesh_is_laid_over_the_groups_of_its_own_run(ranks):
    """DTensor computes where it did the same before: that was on groups of other numbers."""

    def doubled(rank, size, others):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Shard, distribute_tensor

        for _ in range(others):
            dist.new_group([0])
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        pieces = distribute_tensor(torch.arange(16.0).reshape(4, 4), mesh, [Shard(0), Shard(1)])
        return (pieces + pieces).full_tensor().sum().item()

    for others in (0, 3):
        result = ranks.run(doubled, others, may_fail=True, deadline=20)
        assert result.ok and list(result) == [240.0] * 4, result.story()


def test_the_port_at_which_a_run_met_is_free_when_it_is_over(ranks):
    """Whoever met there again could find the addresses of the run before."""

    def meet(rank, size, port):
        dist.destroy_process_group()
        where = f"tcp://127.0.0.1:{port}"
        dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)
        dist.barrier()
        dist.irecv(torch.zeros(1), 1 - rank)  # nobody waits for it

    def is_taken(rank, size, port):
        with socket.socket() as probe:
            return rank == 0 and probe.connect_ex(("127.0.0.1", port)) == 0

    two = Ranks(2, deadline=20)
    with Held() as held:
        for _ in range(3):
            assert two.run(meet, held.port, may_fail=True).ok
            assert list(two.run(is_taken, held.port)) == [False, False]


def test_signals_and_the_environment_are_put_back_after_a_run(ranks):
    def change(rank, size):
        signal.signal(signal.SIGCHLD, lambda *_: os._exit(1))
        os.environ["GLOO_SOCKET_IFNAME"] = "a network that there is not"
        os.environ["HOME"] = "/nowhere"
        del os.environ["PATH"]
        log = open(os.devnull, "w")  # noqa: SIM115  # kept by the watchdog while there is one
        os.watchdog = weakref.ref(log)
        faulthandler.dump_traceback_later(600, exit=True, file=log)
        return os.getpid()

    def find(rank, size):
        watched = getattr(os, "watchdog", lambda: None)() is not None
        handled = signal.getsignal(signal.SIGCHLD) in (signal.SIG_DFL, signal.SIG_IGN)
        return os.getpid(), watched, handled, os.environ["HOME"], os.environ["PATH"]

    if isinstance(pool := local(4), WarmRanks):
        complete(pool)
    before = list(ranks.run(find))
    assert not any(watched for _, watched, *_ in before)
    assert [pid for pid, *_ in before] == list(ranks.run(change))
    assert list(ranks.run(find)) == before
    assert ranks.run(all_reduce, torch.ones(1)).ok


def test_px_works_on_the_same_engines(ranks):
    before = ranks.run(lambda rank, size: os.getpid())
    ranks.view.execute("import os; me = os.getpid()", block=True)
    pids = ranks.view["me"]
    assert len(set(pids)) == 4
    assert ranks.run(lambda rank, size: os.getpid())[1] == pids[1]
    assert not any(alive(pid) for pid in set(before) - set(pids))


def complete(pool):
    """Wait until none of its ranks is one that was forked early."""
    deadline = time.monotonic() + 60
    while pool._spares:
        assert time.monotonic() < deadline, "they stay young"
        pool.settle()
        os.sched_yield()


def me(rank, size):
    return os.getpid(), "imported_late" in sys.modules


def test_bare_ranks_forked_early_give_way_to_complete_ones(gate):
    two = Ranks(2)
    young = list(two.run(me))
    assert not any(late for _, late in young)
    assert list(two.run(me)) == young
    open(gate, "w").close()
    more = Ranks(3)  # while the others are young
    complete(local(3))
    whole = list(more.run(me))
    assert all(late for _, late in whole)
    assert not {pid for pid, _ in young} & {pid for pid, _ in whole}
    assert not any(alive(pid) for pid, _ in young)
    complete(local(3))
    assert list(more.run(me)) == whole


def test_a_bare_rank_that_dies_early_is_replaced_by_a_complete_one(gate):
    def die(rank, size):
        if rank == 1:
            os._exit(1)

    two = Ranks(2)
    young = list(two.run(me))
    two.run(die, may_fail=True)
    open(gate, "w").close()
    after = list(two.run(me))
    assert after[1][1] and after[1][0] != young[1][0]


def test_engines_have_all_that_ranks_need(gate):
    threading.Thread(target=lambda: open(gate, "w").close(), daemon=True).start()
    found = LocalEngines(2)

    def by_rank():
        view = found.client[found.ids]
        view.execute("import os, sys; me = os.getpid(), 'imported_late' in sys.modules", block=True)
        return view["me"]

    try:
        first = by_rank()
        assert first == [(pid, True) for pid in found._pids]
        found.replace([1])
        found.settle()
        again = by_rank()
        assert again == [(pid, True) for pid in found._pids]
        assert again[0] == first[0] and again[1] != first[1]
    finally:
        found.close()


def test_engines_that_never_got_the_first_question_are_asked_again(monkeypatch):
    """The controller's scheduler drops what is for an engine that it has no connection to yet."""
    plain, dropped = ipyparallel.DirectView.apply_async, []

    def apply_async(view, function, *args, **kwargs):
        if function is os.getpid and view.targets not in dropped:
            dropped.append(view.targets)
            return SimpleNamespace(ready=lambda: False)
        return plain(view, function, *args, **kwargs)

    monkeypatch.setattr(ipyparallel.DirectView, "apply_async", apply_async)
    found = LocalEngines(2)
    try:
        assert sorted(dropped) == sorted(found.ids)
    finally:
        found.close()


def test_a_run_that_is_interrupted_leaves_nothing_for_the_next_one(ranks, tmp_path):
    """By the notebook's stop button: what the ranks would have answered is no answer any more."""
    begun, never = tmp_path / "begun", tmp_path / "never"
    os.mkfifo(begun)
    os.mkfifo(never)

    def slow(rank, size):
        with open(begun, "w") as all_wait:
            all_wait.write("x")
        if rank:
            open(never, "w").close()  # nobody ever reads it
        return "of the run before"

    def stop():
        with open(os.open(begun, os.O_RDWR), "rb") as all_wait:  # it ends with no writer
            all_wait.read(4)
        _thread.interrupt_main()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a kernel
    try:
        for _ in range(2):
            threading.Thread(target=stop, daemon=True).start()
            with pytest.raises(KeyboardInterrupt) as caught:
                ranks.run(slow)
            said, *stood = "\n".join(caught.value._render_traceback_()).splitlines()
            assert said == "KeyboardInterrupt: interrupted while slow runs on 4 ranks. Until then:"
            assert [line[:6] for line in stood] == ["rank 0", "rank 1", "rank 2", "rank 3"]
            assert list(ranks.run(lambda rank, size: rank)) == [0, 1, 2, 3]
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_interrupts_a_run_while_it_is_handed_out_is_told_where_ranks_stood(monkeypatch):
    found = local(2)
    send = found.send

    def interrupted(rank, *message):
        if rank:
            raise KeyboardInterrupt
        send(rank, *message)

    monkeypatch.setattr(found, "send", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        Ranks(2).run(lambda rank, size: rank)
    said, *stood = "\n".join(caught.value._render_traceback_()).splitlines()
    assert said.endswith(" runs on 2 ranks. Until then:") and stood
    monkeypatch.undo()
    assert list(Ranks(2).run(lambda rank, size: rank)) == [0, 1]


def test_ranks_that_nobody_uses_are_ended_and_are_back_at_once(monkeypatch):
    end_local()
    two = Ranks(2)
    complete(local(2))
    list(two.run(me))
    monkeypatch.setattr("distlab.engines.warm.IDLE", 0.05)
    pids = [pid for pid, _ in two.run(me)]
    deadline = time.monotonic() + 30
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "they are kept"
        os.sched_yield()
    monkeypatch.setattr("distlab.engines.warm.IDLE", 300.0)
    again = [pid for pid, _ in two.run(me)]
    assert not set(again) & set(pids)
    assert [pid for pid, _ in two.run(me)] == again


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's /proc for the processes")
def test_ranks_that_were_to_take_the_place_of_others_are_ended_with_them(gate, monkeypatch):
    two = Ranks(2)
    open(gate, "w").close()
    while not local(2)._ripe():
        os.sched_yield()
    assert len(local(2)._spares) == 2
    pids = descendants(local(2)._source.process.pid)
    local(2)._rest(local(2)._runs)
    for pid in pids:
        wait_for_the_end_of(pid)
    assert len(pids) == 4 and not any(alive(pid) for pid in pids)
    assert list(two.run(whose, 1)) == [1, 1]


def test_ranks_run_in_a_notebook_that_has_opened_masses_of_files(bare):
    lost = bare.run(me)[1][0]
    os.kill(lost, signal.SIGKILL)  # the connection of another one comes after all files
    wait_for_the_end_of(lost)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limit[1]), limit[1]))
    try:
        with contextlib.ExitStack() as files:
            for _ in range(1100):
                files.enter_context(open(os.devnull))
            assert list(bare.run(whose, 1)) == [1, 1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_ranks_are_not_ended_under_a_run_that_begins(monkeypatch):
    two = Ranks(2)
    monkeypatch.setattr("distlab.engines.warm.IDLE", 0.0)
    for _ in range(40):
        assert list(two.run(lambda rank, size: rank)) == [0, 1]
    end_local()


def test_a_smaller_world_uses_the_first_of_the_same_ranks(ranks):
    two = Ranks(2)
    assert [v.item() for v in two.run(all_reduce, torch.ones(1))] == [2.0, 2.0]
    assert (
        two.run(lambda rank, size: os.getpid())[0] == ranks.run(lambda rank, size: os.getpid())[0]
    )


def test_functions_of_a_notebook_can_use_its_other_functions_and_dataloader_workers(ranks):
    class Squares(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index**2

    def total(rank, size):
        return sum(int(b.sum()) for b in torch.utils.data.DataLoader(Squares(), 4, num_workers=1))

    assert list(Ranks(2).run(total)) == [140, 140]


@pytest.mark.parametrize("size", [0, -1, 10_000])
def test_a_world_that_the_machine_cannot_carry_is_refused_in_one_line(size):
    with pytest.raises(
        ValueError, match=r"ranks where a notebook may use \d+ cores? .*: ask for 1 to"
    ) as refused:
        Ranks(size)
    assert "\n" not in str(refused.value)


def test_each_needs_a_value_for_every_rank(ranks):
    with pytest.raises(ValueError, match="each.. has 2 values for 4 ranks"):
        ranks.run(all_reduce, each([torch.ones(1)] * 2))


def test_a_module_beside_the_notebook_is_imported_again_once_its_file_has_changed(ranks, tmp_path):
    package = tmp_path / "of_this_test"
    package.mkdir()
    (package / "__init__.py").write_text("from of_this_test.inner import VALUE")
    folder = str(tmp_path)

    def value(rank, size):
        if folder not in sys.path:
            sys.path.insert(0, folder)
        import of_this_test

        return of_this_test.VALUE, id(of_this_test)

    def run(written=None):
        if written is not None:
            (package / "inner.py").write_text(f"VALUE = {written!r}")
        return list(ranks.run(value))

    first = run("a")
    assert [got for got, _ in first] == ["a"] * ranks.size
    assert run() == first
    assert [got for got, _ in run("other")] == ["other"] * ranks.size


def test_an_existing_cluster_is_used_and_left_running(ranks):
    client = ranks.client
    with Ranks(2, cluster=client) as attached:
        assert [v.item() for v in attached.run(all_reduce, torch.ones(1))] == [2.0, 2.0]
    with pytest.raises(ValueError, match="the cluster has"):
        Ranks(64, cluster=client)
    assert list(ranks.view.apply_sync(abs, -1)) == [1] * 4, "the client is closed"


def test_a_client_that_was_made_to_attach_is_closed_with_the_ranks(ranks):
    assert ranks.client  # so that they are a cluster
    file = str(ranks._engines.folder / "security" / "ipcontroller-client.json")
    made = []

    class Noted(ipyparallel.Client):
        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            made.append(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ipyparallel, "Client", Noted)
        with Ranks(2, cluster=file) as attached:
            assert list(attached.run(lambda rank, size: rank)) == [0, 1]
        with pytest.raises(ValueError, match="the cluster has"):
            Ranks(64, cluster=file)
    assert [client._closed for client in made] == [True, True]


@pytest.mark.slow  # starts a stock cluster, which takes ten seconds
def test_a_stock_cluster_is_attached_to_and_says_when_its_engines_are_gone():
    def listen(rank, size):
        dist.recv(torch.zeros(1), src=1 - rank)

    with ipyparallel.Cluster(n=3, log_level=40) as client:
        client.wait_for_engines(3)
        three = Ranks(3, cluster=client)
        os.kill(three.run(me)[2][0], signal.SIGKILL)  # while nobody uses it
        deadline = time.monotonic() + 60
        while len(client.ids) == 3:
            assert time.monotonic() < deadline, "it stays listed"
            os.sched_yield()
        with pytest.raises(ValueError, match="2 engines left of 3: start its engines again"):
            three.run(me)
        attached = Ranks(2, cluster=client)
        assert [v.item() for v in attached.run(all_reduce, torch.ones(1))] == [2.0, 2.0]
        assert attached.run(listen, may_fail=True).run.finding.kind == "cycle"
        with pytest.raises(ValueError, match="0 engines left of 2: start its engines again"):
            attached.run(all_reduce, torch.ones(1))


def descendants(pid: int) -> set[int]:
    """The processes below `pid`, by Linux's own list."""
    found, todo = set(), [pid]
    while todo:
        parent = todo.pop()
        for started in Path(f"/proc/{parent}/task").glob("*/children"):  # by each of its threads
            with contextlib.suppress(OSError):
                children = [int(word) for word in started.read_text().split()]
                found |= set(children)
                todo += children
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's /proc for the processes")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_is_left_behind_after_any_ending(ending):
    program = "from distlab import Ranks; Ranks(2); print('up', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "up\n"
        children = descendants(process.pid)
        assert len(children) >= 3  # zygote, two ranks
        process.send_signal(ending)
        process.wait(60)
    deadline = time.monotonic() + 60
    while any(alive(pid) for pid in children):
        assert time.monotonic() < deadline, "processes were left behind"
        os.sched_yield()


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_timeout_of_the_programs_own_is_awaited_and_what_it_waited_for_is_told(ranks):
    def listen(rank, size):
        dist.irecv(torch.zeros(1), 1 - rank).wait(timeout=datetime.timedelta(seconds=0.7))

    result = Ranks(2).run(listen, may_fail=True)
    assert [outcome.status for outcome in result.run.outcomes] == ["raised"] * 2
    assert result.run.seconds >= 0.7 and result.run.finding is None
    said = result.story()
    assert "Until the timeout had passed, rank 0 waits for its irecv(src=1)" in said
    assert "neither can ever send" in said and ", until its own timeout had passed" in said


def test_a_fork_of_the_notebook_that_ends_leaves_the_ranks_alone(ranks):
    assert list(ranks.run(lambda rank, size: rank)) == [0, 1, 2, 3]
    engines = ranks._engines
    if (child := os.fork()) == 0:
        try:
            engines.close()  # what `atexit` calls there
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert list(ranks.run(lambda rank, size: rank)) == [0, 1, 2, 3]


def test_ranks_that_were_ended_elsewhere_are_others_the_next_time():
    with Ranks(2, deadline=30) as two:
        assert list(two.run(lambda rank, size: rank)) == [0, 1]
        end_local()
        assert list(two.run(lambda rank, size: size)) == [2, 2]


def test_a_cell_whose_source_python_has_not_read_yet_travels_without_it(monkeypatch):
    scope = {}
    exec(compile("def f(rank, size): ...", "<a cell>", "exec"), scope)
    monkeypatch.setitem(linecache.cache, "<a cell>", (lambda: "def f(rank, size): ...",))
    assert sources_of(scope["f"]) == {}
    linecache.cache["<a cell>"] = (22, None, ["def f(rank, size): ..."], "<a cell>")
    assert sources_of(scope["f"]) == {"<a cell>": "def f(rank, size): ..."}


class AttributesAreKeys(dict):
    __getattr__ = dict.__getitem__


def wrapping(one):
    """A function that says that it wraps this, or itself."""

    def companion(rank, size): ...

    companion.__wrapped__ = companion if one is None else one
    return companion


class AsksElsewhere:
    """Of a notebook, as its module has no file; what it stands for is not there yet."""

    __module__ = "__a_notebook__"

    @property
    def __dict__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "companion",
    [
        AttributesAreKeys(lr=0.1), torch.ops, wrapping(AttributesAreKeys(lr=0.1)), wrapping(None),
        AsksElsewhere(),
    ],
    ids=["keys", "ops", "wraps keys", "wraps itself", "stands for another"],
)  # fmt: skip
def test_what_else_the_notebook_holds_is_not_asked_for_its_source(monkeypatch, companion):
    monkeypatch.setitem(sys.modules, "__a_notebook__", types.ModuleType("__a_notebook__"))
    scope = {"companion": companion}
    exec(compile("def f(rank, size): ...", "<a cell>", "exec"), scope)
    monkeypatch.setitem(linecache.cache, "<a cell>", (22, None, ["def f…"], "<a cell>"))
    assert sources_of(scope["f"]) == {"<a cell>": "def f…"}


def calls(rank, size, function):
    return function()


def test_a_function_that_is_an_argument_has_the_source_of_its_cell(ranks, monkeypatch):
    scope = {}
    exec(compile("def f(): raise ValueError", "<a cell>", "exec"), scope)
    source = (22, None, ["def f(): raise ValueError"], "<a cell>")
    monkeypatch.setitem(linecache.cache, "<a cell>", source)
    with pytest.raises(RunFailed, match="f:1  def f\\(\\): raise ValueError"):
        ranks.run(calls, scope["f"])


def test_a_function_with_a_cache_has_the_source_of_its_cell(monkeypatch):
    scope = {}
    cached = "import functools\n@functools.cache\ndef f(rank, size): ..."
    exec(compile(cached, "<a cell>", "exec"), scope)
    monkeypatch.setitem(linecache.cache, "<a cell>", (22, None, ["def f…"], "<a cell>"))
    assert sources_of(scope["f"]) == {"<a cell>": "def f…"}


def test_ranks_read_the_source_of_a_notebook_that_was_loaded(ranks, tmp_path):
    source = "import inspect\n\ndef own(rank, size):\n    return inspect.getsource(own)"
    solution = {"nbgrader": {"grade_id": "own", "solution": True, "grade": False}}
    cell = {"cell_type": "code", "metadata": solution, "source": source, "outputs": []}
    path = tmp_path / "lab.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    own = load(path, "a_loaded_lab").own
    assert ranks.run(own)[0].rstrip() == source.partition("\n\n")[2]


HELD = {
    "a decorator that is a class": "{}\n@Around\ndef f(rank, size): ...",
    "an object that can be called": "{}\nf = Around(None)",
    "a method of an object": "{}\nf = Around(None).__call__",
    "a decorated companion": "{}\n@Around\ndef other(): ...",
}
AROUND = """
class Around:
    def __init__(self, function): self.function = function
    def __call__(self, rank, size): return self.function(rank, size)
"""


@pytest.mark.parametrize("what", HELD)
def test_what_a_class_of_the_notebook_is_around_has_the_source_of_its_cell(monkeypatch, what):
    monkeypatch.setitem(sys.modules, "a_notebook", types.ModuleType("a_notebook"))
    scope = vars(sys.modules["a_notebook"])
    for cell, source in (("<1>", HELD[what].format(AROUND)), ("<2>", "def g(rank, size): ...")):
        exec(compile(source, cell, "exec"), scope)
        monkeypatch.setitem(linecache.cache, cell, (1, None, [source], cell))
    asked = scope["g" if "companion" in what else "f"]
    assert sources_of(asked) == {"<1>": HELD[what].format(AROUND), "<2>": "def g(rank, size): ..."}


def wait_for_the_end_of(pid):
    with contextlib.suppress(ProcessLookupError):
        assert select.select([os.pidfd_open(pid)], [], [], 60)[0]


def whose(rank, size, mine):
    return mine


@pytest.fixture
def bare():
    """Two bare ranks, which are no longer young."""
    if type(local(2)) is not WarmRanks:
        end_local()
    complete(local(2))
    return Ranks(2)


@pytest.mark.slow  # the fork starts ranks of its own
def test_a_fork_of_the_notebook_has_ranks_of_its_own(bare):
    before = list(bare.run(me))
    if (child := os.fork()) == 0:
        status = 1
        try:
            status = list(bare.run(whose, "fork")) != ["fork"] * 2
        finally:
            end_local()
            os._exit(status)
    for number in range(50):
        assert list(bare.run(whose, number)) == [number] * 2
    assert os.waitpid(child, 0)[1] == 0
    assert list(bare.run(me)) == before


def test_threads_of_the_notebook_get_each_its_own_answers(bare):
    def go(thread):
        return all(list(bare.run(whose, (thread, i))) == [(thread, i)] * 2 for i in range(10))

    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        assert list(threads.map(go, range(3))) == [True] * 3


def test_a_child_that_a_function_lets_return_does_not_answer_for_its_rank(bare):
    def fork(rank, size):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return "rank" if child else "child"

    assert list(bare.run(fork)) == ["rank"] * 2
    assert list(bare.run(whose, 1)) == [1, 1]


@pytest.mark.parametrize(
    ("ending", "status"), [(None, 0), (SystemExit(3), 3), (SystemExit("no"), 1), (KeyError(1), 1)]
)
def test_a_child_that_a_function_forks_is_over_and_its_rank_is_not(ending, status):
    """It has the rank's record before it. Its rank goes on, for long, and others wait for that."""

    def fork(rank, size):
        if rank == 0:
            child = os.fork()
            if child == 0 and ending is not None:
                raise ending
            if child == 0:
                return "child"
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            threading.Event().wait(0.5)
        dist.barrier()
        return ended if rank == 0 else None

    result = Ranks(2, deadline=20).run(fork, may_fail=True)
    assert result.run.finding is None and list(result) == [status, None]


def test_a_rank_that_ended_between_two_runs_has_been_replaced(ranks, kind):
    """It cannot have ended in the function of the next run."""
    if kind == "bare":
        complete(local(4))
    young = [pid for pid, _ in ranks.run(me)]
    os.kill(young[1], signal.SIGKILL)
    wait_for_the_end_of(young[1])
    now = [pid for pid, _ in ranks.run(me)]
    assert now[1] != young[1] and now[:1] + now[2:] == young[:1] + young[2:]


@pytest.mark.parametrize("kind", ["ipyparallel"], indirect=True)  # bare ranks end as a whole then
def test_an_engine_that_ends_while_it_starts_is_started_again(ranks, monkeypatch):
    engines = local(4)
    engines.replace([1])
    os.kill(engines._late[1], signal.SIGKILL)
    wait_for_the_end_of(engines._late[1])
    monkeypatch.setattr(engines, "_lives", lambda rank: True)  # as if it had ended a moment later
    pids = [pid for pid, _ in ranks.run(me)]
    assert pids == engines._pids and len(set(pids)) == 4


@pytest.mark.parametrize("kind", ["ipyparallel"], indirect=True)
def test_engines_whose_start_was_interrupted_start_before_the_next_run(ranks, kind, monkeypatch):
    """A rank without a process must not be the last engine's, nor all of the user's processes."""
    engines, before = local(4), [pid for pid, _ in ranks.run(me)]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engines, "_start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        local(5)
    ended = []
    monkeypatch.setattr(engines._source, "end", ended.append)
    with pytest.raises(KeyboardInterrupt):
        engines.replace([4])
    monkeypatch.undo()
    assert ended == []
    now = [pid for pid, _ in Ranks(5).run(me)]
    assert now[:4] == before and len(set(now)) == 5


@pytest.mark.slow  # other engines begin
def test_when_the_source_of_engines_is_lost_one_run_says_so_and_others_begin():
    engines, two = clustered(2), Ranks(2)
    engines._source.process.kill()
    for pid in engines._pids:  # they end with it
        wait_for_the_end_of(pid)
    with pytest.raises(ZygoteLost, match="ranks are forked from has ended"):
        two.run(me)
    assert len(engines) == 0 and len(two.client.ids) == 2
    assert list(two.run(whose, 1)) == [1, 1]


def test_engines_whose_making_is_interrupted_leave_nothing_behind(monkeypatch):
    class Source:
        folder, closed = Path(), False

        def prepare(self, count):
            raise KeyboardInterrupt

        def close(self):
            self.closed = True

    source = Source()
    way = SimpleNamespace(forks=True, source=lambda preload: source)
    with pytest.raises(KeyboardInterrupt):
        LocalEngines(2, way)
    assert source.closed


@pytest.mark.slow  # nothing is forked: ranks import torch each for themselves
def test_the_death_of_a_rank_is_noticed_though_a_child_holds_its_connection(monkeypatch):
    def die(rank, size):
        if rank:
            if os.fork() == 0:
                signal.pause()
            os._exit(1)

    monkeypatch.setenv("DISTLAB_PROCESSES", "spawn")
    end_local()
    try:
        result = Ranks(2).run(die, may_fail=True, deadline=60)
        assert result.run.outcomes[1].status == "crashed" and result.run.seconds < 30
    finally:
        end_local()


def test_when_the_source_of_ranks_is_lost_one_run_says_so_and_others_begin(bare):
    pids = [pid for pid, _ in bare.run(me)]
    local(2)._source.process.kill()
    for pid in pids:  # they end with it
        wait_for_the_end_of(pid)
    with pytest.raises(ZygoteLost, match="ranks are forked from has ended"):
        bare.run(me)
    assert list(bare.run(whose, 1)) == [1, 1]


def test_ranks_whose_start_is_interrupted_end_as_a_whole(bare, monkeypatch):
    engines, owned = local(2), local(2)._source.folder

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("distlab.engines.spawned.await_ready", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        Ranks(len(engines) + 1)
    (said,) = caught.value._render_traceback_()
    assert said.startswith("KeyboardInterrupt: interrupted while ") and "are being started" in said
    monkeypatch.undo()
    assert len(engines) == 0 and not owned.exists()
    assert list(bare.run(whose, 1)) == [1, 1] and local(2) is not engines


def test_an_interrupt_while_ranks_are_ended_leaves_nothing_for_the_next_run(bare, monkeypatch):
    """The stop button, pressed twice."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(local(2), "receive", interrupted)
    monkeypatch.setattr(local(2), "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bare.run(whose, "of the run before")
    monkeypatch.undo()
    assert list(bare.run(whose, 1)) == [1, 1]


def test_a_process_that_a_rank_starts_while_it_has_no_task_is_gone_in_its_next_run(bare, tmp_path):
    asked, told = tmp_path / "asked", tmp_path / "told"
    os.mkfifo(asked)
    os.mkfifo(told)

    def start():
        asked.read_bytes()
        if child := os.fork():
            told.write_text(str(child))
        threading.Event().wait()  # a child ends with the thread that has started it

    def begin(rank, size):
        start.__module__ = "tqdm"  # a library's thread, which may go on when a run is over
        if rank == 1:
            threading.Thread(target=start, daemon=True).start()
        return os.getpid()

    def meanwhile(rank, size):
        asked.write_bytes(b"")
        return int(told.read_text())

    before = list(bare.run(begin))
    (child,) = Ranks(1, deadline=20).run(meanwhile)
    after = [pid for pid, _ in bare.run(me)]
    assert after[0] == before[0] and after[1] != before[1]
    wait_for_the_end_of(child)


def test_a_rank_whose_reply_is_too_large_is_replaced_by_one_that_has_none_to_send(
    bare, monkeypatch
):
    """As the grader has it: the rest of the reply would be taken for an answer of the next run."""
    monkeypatch.setattr(local(2), "_limit", 1_000_000)
    result = bare.run(lambda rank, size: bytes(rank * 30_000_000), may_fail=True)
    assert [one.status for one in result.run.outcomes] == ["returned", "raised"]
    assert result.run.outcomes[1].error["type"] == "OutputTooLarge"
    assert list(bare.run(whose, 1)) == [1, 1]


def test_ranks_whose_files_are_used_up_are_replaced(bare):
    def use_up(rank, size):
        kept = globals().setdefault("KEPT", [])
        with contextlib.suppress(OSError):
            while True:
                kept.append(os.dup(0))

    assert bare.run(use_up).ok
    assert list(bare.run(whose, 1)) == [1, 1]


def test_a_rank_that_takes_no_inputs_does_not_hold_up_a_run_past_its_deadline(bare):
    stopped = bare.run(me)[1][0]
    os.kill(stopped, signal.SIGSTOP)
    begin = time.monotonic()
    result = bare.run(whose, bytes(20_000_000), deadline=2, may_fail=True)
    assert result.run.timed_out and result.run.outcomes[1].status == "killed"
    assert time.monotonic() - begin < 30
    wait_for_the_end_of(stopped)
    assert list(bare.run(whose, 1)) == [1, 1]
