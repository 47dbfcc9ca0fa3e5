"""`setup`: making the process group."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

from distlab.course.lab02_toy_model.weights import PATIENCE
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.processes import ports
from distlab.rank.pretended_gpus import PretendedGpus
from distlab.rank.sharing import Board, among_ranks

_GROUP, _BACK_END = "default process group", "choice of the back end"
_ADDRESS, _SUM = "address of the rendezvous", "sum of a number from each rank"
_MISLEADING = "127.0.0.2"  # reaches this machine too, so that a mistake shows and does not hang


def _setup_inputs(case: Case) -> list[dict]:
    """Each rank has a number of its own: only a group that works knows their sum."""
    numbers = [int(case.generator(rank).integers(1, 10_000)) for rank in range(case.size)]
    return [{"gpus": case.get("gpus", 0), "number": number} for number in numbers]


def _chosen(name: str) -> str:
    """The back end of a name such as "gloo", "cpu:gloo,cuda:gloo" or "cpu:gloo,cuda:nccl"."""
    if "nccl" in name:
        return "nccl"
    serving = dict(pair.split(":") for pair in name.split(",")) if ":" in name else {"cpu": name}
    return "gloo" if serving.get("cpu") == "gloo" and {*serving.values()} == {"gloo"} else name


@contextlib.contextmanager
def _pretending(gpus: int, asked: list[str]):
    """A machine with this many GPUs, where gloo takes NCCL's part; notes what was asked for."""
    from unittest import mock

    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    make = c10d._new_process_group_helper

    def helper(size, rank, ranks, backend, *args, **kwargs):
        name = str(backend).lower()
        if name == "undefined":  # torch then takes what the machine has
            name = "nccl" if gpus else "gloo"
        asked.append(_chosen(name))
        kwargs.pop("device_id", None)
        return make(size, rank, ranks, c10d.Backend("gloo"), *args, **kwargs)

    with (
        PretendedGpus(gpus).there(),
        mock.patch.object(dist, "is_nccl_available", lambda: True, create=True),
        mock.patch.object(c10d, "is_nccl_available", lambda: True, create=True),
        mock.patch.object(c10d, "_new_process_group_helper", helper),
    ):
        yield


@contextlib.contextmanager
def _told_ports(turn: int, rank: int, size: int) -> Iterator[tuple[int, int]]:
    """A port for the ranks to meet at and one that misleads them; rank 0 holds both meanwhile."""
    with contextlib.ExitStack() as stack:

        def held() -> list[int] | None:
            if rank != 0:
                return None
            both = [stack.enter_context(ports.Held()) for _ in range(2)]
            stack.enter_context(_let_go_by_sockets(both))
            return [one.port for one in both]

        here, misleading = among_ranks(f"ports.{turn}", rank, size, held)[0]
        yield here, misleading


@contextlib.contextmanager
def _let_go_by_sockets(held: list[ports.Held]):
    """Let Python's own sockets bind a held port, also without SO_REUSEADDR."""
    from unittest import mock

    bind = socket.socket.bind

    def bound(self, address):
        for one in held:
            if isinstance(address, tuple) and address[1:2] == (one.port,):
                one.let_go()
        return bind(self, address)

    with mock.patch.object(socket.socket, "bind", bound, create=True):
        yield


def _group_as_found(port: int, asked: list[str], number: int) -> dict:
    import torch
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    from distlab.rank import recording

    if not dist.is_initialized():
        return dict.fromkeys((_GROUP, _BACK_END, _ADDRESS, _SUM))
    store = c10d._get_default_store()
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    host, at = getattr(store, "host", type(store).__name__), getattr(store, "port", None)
    host = "127.0.0.1" if host == "localhost" else host
    total = torch.tensor([number], device="cpu")  # whatever device is the default by now
    with recording.paused():
        dist.all_reduce(total)
    return {
        _GROUP: f"rank {dist.get_rank()} of {dist.get_world_size()}",
        _BACK_END: asked[-1] if asked else "",
        _ADDRESS: f"{host}, {'this port' if at == port else 'another port'}",
        _SUM: int(total.item()),
    }


def _call_setup(function, rank, size, inputs):
    from unittest import mock

    import torch.distributed as dist

    from distlab.rank import recording

    def group(turn: int) -> dict:
        asked: list[str] = []
        with (
            _told_ports(turn, rank, size) as (port, misleading),
            _pretending(inputs["gpus"], asked),
        ):
            os.environ.update(MASTER_ADDR=_MISLEADING, MASTER_PORT=str(misleading))
            os.environ.update(RANK=str(size - 1 - rank), WORLD_SIZE="1")
            function(rank, size, port)
            return _group_as_found(port, asked, inputs["number"])

    with mock.patch.dict(os.environ):
        first = again = group(0)
        if _is_this_rank(first, rank, size):
            with recording.paused():
                dist.barrier()
            dist.destroy_process_group()
            again = group(1)
    return {"first group": first, "group after cleanup()": again}


def _is_this_rank(group: dict, rank: int, size: int) -> bool:
    """Does the group say what `setup` was told?

    Raises:
        RuntimeError: it does not, and another rank does not return from `setup`, which may wait for
            this one to join its group. The message says why.
    """
    told, says = f"rank {rank} of {size}", group[_GROUP]
    if says == told:
        return True
    ended = Board(rank, size)
    ended.note("other group", "")
    missing = sorted(set(range(size)) - set(ended.awaited("other group", PATIENCE)))
    if missing and says is not None:
        raise RuntimeError(
            f"setup was told {told}, and after it the group says {says}, while rank {missing[0]} "
            "has not returned from setup"
        )
    return False


_OTHERS_RANK = (
    "The check leaves another program's RANK and WORLD_SIZE in the environment. What "
    "init_process_group is not given it reads from there: give it both, or set these variables "
    "yourself."
)


def _found(look: Look, key: str) -> list:
    return [group.get(key) for got in look.got for group in got.values()]


def _met_at(look: Look, part: str) -> bool:
    """Did ranks meet at an address that this is a part of?"""
    return any(part in str(address) for address in _found(look, _ADDRESS))


def _enough_gpus(look: Look) -> bool:
    return look.inputs[0]["gpus"] >= look.size


exercise = Exercise(
    points=3,
    make=_setup_inputs,
    call=_call_setup,
    group=False,
    deadline=20.0,  # who knocks before rank 0 listens tries again, on a busy machine seconds later
    asks="setup makes the default process group of world_size ranks at 127.0.0.1 and the given "
    "port, with NCCL when there are at least world_size GPUs and with gloo otherwise, whatever "
    "the environment says.",
    visible=(Case(2, 1, {"gpus": 0}), Case(2, 2, {"gpus": 2}), Case(3, 3, {"gpus": 2})),
    hints=(
        Hint(
            "no group",
            lambda look: None in _found(look, _GROUP),
            "After setup there is no default process group: init_process_group has to be called.",
        ),
        Hint(
            "rank of the environment",
            lambda look: any(
                group[_GROUP]
                == f"rank {look.size - 1 - r} of {look.size}"
                != f"rank {r} of {look.size}"
                for r, got in enumerate(look.got)
                for group in got.values()
            ),
            _OTHERS_RANK,
        ),
        Hint(
            "environment believed",
            lambda look: _met_at(look, _MISLEADING),
            "The check leaves another program's MASTER_ADDR in the environment. Set the variable "
            "yourself (os.environ[...] = ..., not setdefault), or pass the address as "
            "init_method.",
        ),
        Hint(
            "port not used",
            lambda look: _met_at(look, "another"),
            "The ranks met at another port than the one that setup was given: two jobs on one "
            "machine would then collide.",
        ),
        Hint(
            "NCCL without enough GPUs",
            lambda look: "nccl" in _found(look, _BACK_END) and not _enough_gpus(look),
            "NCCL refuses two ranks on one GPU: that there is a GPU is not enough. Compare their "
            "number with world_size.",
        ),
        Hint(
            "gloo beside enough GPUs",
            lambda look: "gloo" in _found(look, _BACK_END) and _enough_gpus(look),
            "With one GPU for each rank, or more, the back end has to be NCCL. Look at the "
            "comparison: exactly as many GPUs as ranks are enough.",
        ),
    ),
    advice=(
        Advice(
            "rank of the environment",
            "setup was told .* the group says|rank < size",
            _OTHERS_RANK,
        ),
        Advice(
            "number for text",
            "str expected, not int",
            "The variables of an environment are text: str(port) makes one of a number.",
        ),
    ),
)
