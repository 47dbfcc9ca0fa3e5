"""`start`: joining the other workers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from distlab.course.lab07_horovod.looks import NOTHING
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank.pretended_gpus import PretendedGpus

UNSEEN = "none: it does not see a GPU number"


def _start_inputs(case: Case) -> list[dict]:
    return [
        {
            "seed": case.get("seed", case.number()),
            "use_cuda": case.get("use_cuda", False),
            "per_node": case.get("per_node", case.size),
            "gpus": case.get("gpus", 0),
        }
    ] * case.size


class _Gpus(PretendedGpus):
    """A machine's GPUs, simulated; notes to which of them a process is pinned.

    As with real ones, CUDA_VISIBLE_DEVICES selects and renumbers the GPUs that the process sees, if
    it is set before the first GPU is chosen by its number.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.generators = max(count, 8)  # whoever chose one that is not there may seed it
        self._visible: list[str] | None = None  # as it was when the first one was chosen

    def choose(self, index: int) -> None:
        """Also one that is not there: `pinned` tells."""
        if self._visible is None:
            told = os.environ.get("CUDA_VISIBLE_DEVICES")
            self._visible = told.split(",") if told else [str(i) for i in range(self.count)]
        self.current = index if index >= 0 else self.current

    @property
    def pinned(self) -> str:
        """The number, on its machine, of the GPU that was chosen last, by whichever means."""
        if self._visible is None:
            return os.environ.get("CUDA_VISIBLE_DEVICES") or "none chosen"
        index = self.current
        if index < len(self._visible):
            return self._visible[index]
        return f"{UNSEEN} {index}" if os.environ.get("CUDA_VISIBLE_DEVICES") else str(index)


@contextlib.contextmanager
def _pretending(gpus: _Gpus) -> Iterator[None]:
    """A machine with these GPUs."""
    visible = os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    with gpus.there():
        try:
            yield
        finally:
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            if visible is not None:
                os.environ["CUDA_VISIBLE_DEVICES"] = visible


@contextlib.contextmanager
def _interop_threads_set_again() -> Iterator[None]:
    """torch takes the number of these threads once in a process: a case is a program of its own."""
    from unittest import mock

    import torch

    plain = torch.set_num_interop_threads

    def set_again(number: int) -> None:
        with contextlib.suppress(RuntimeError):
            plain(number)

    with mock.patch.object(torch, "set_num_interop_threads", set_again):
        yield


def _call_start(function, rank, size, inputs):
    import horovod.torch as hvd
    import torch

    from distlab.course.lab07_horovod import ranks

    ranks.prepare(rank, size, inputs["per_node"])
    torch.set_num_threads(3)
    torch.manual_seed(inputs["seed"] + 1)
    gpus = _Gpus(inputs["gpus"])
    try:
        with _pretending(gpus), _interop_threads_set_again():
            returned = function(inputs["seed"], inputs["use_cuda"])
            pinned = gpus.pinned
        return {
            "Horovod": f"rank {hvd.rank()} of {hvd.size()}"
            if hvd.is_initialized()
            else "not initialised",
            "GPU": pinned,
            "seed of torch": torch.initial_seed(),
            "number of CPU threads": torch.get_num_threads(),
            "returned": returned,
        }
    finally:
        torch.set_num_threads(1)


def _chosen(look: Look, number) -> bool:
    """Was this the GPU of every rank, and is that wrong for one of them?"""
    numbers = [str(number(r)) for r in look.ranks]
    return look.left("GPU") == numbers and look.asked("GPU") != numbers


def _by_a_rest(look: Look) -> bool:
    """Is each GPU what remains of the rank and the number of GPUs, or of workers on its machine?"""
    gpus, per_node = look.inputs[0]["gpus"], look.inputs[0]["per_node"]
    beside = [min(per_node, look.size - r // per_node * per_node) for r in look.ranks]
    return _chosen(look, lambda r: r % gpus) or _chosen(look, lambda r: r % beside[r])


def _same_items(look: Look) -> bool:
    """Is what was returned right but for the order?"""
    pairs = look.pairs()
    return look.differs("returned") and all(sorted(want) == sorted(got) for want, got in pairs)


def _first_two(look: Look) -> bool:
    """Are the first two right, and not all three?"""
    return look.differs("returned") and all(
        tuple(got)[:2] == tuple(want)[:2] for want, got in look.pairs()
    )


exercise = Exercise(
    points=3,
    make=_start_inputs,
    tuples=0,
    call=_call_start,
    group=False,
    needs=("horovod",),
    asks="start initialises Horovod, pins the GPU of this worker's local rank where use_cuda is "
    "true, seeds torch, keeps to one CPU thread and returns (rank, size, local_rank).",
    visible=(
        Case(2, 42),
        Case(4, 7, {"use_cuda": True, "gpus": 2, "per_node": 2}),
    ),
    hints=(
        Hint(
            "not initialised",
            lambda look: "not initialised" in look.left("Horovod"),
            "Horovod is not running after start: hvd.init() has to be called, also where the "
            "environment would tell rank and size.",
        ),
        Hint(
            "GPU without use_cuda",
            lambda look: not look.inputs[0]["use_cuda"] and "none chosen" not in look.left("GPU"),
            "A GPU was chosen although use_cuda is false.",
        ),
        Hint(
            "visible and by number",
            lambda look: any(str(gpu).startswith(UNSEEN) for gpu in look.left("GPU")),
            "CUDA_VISIBLE_DEVICES leaves this process a single GPU, and that has the number 0 "
            "then. Choose the GPU by the variable or by its number, not by both.",
        ),
        Hint(
            "GPU by rank",
            lambda look: _chosen(look, lambda r: r),
            "The workers of the second machine chose GPUs that it does not have: GPUs are counted "
            "on each machine from 0, like local ranks, and ranks are counted over all of them.",
        ),
        Hint(
            "GPU by the rest of a rank",
            _by_a_rest,
            "What remains of the rank when it is divided by the number of GPUs, or of workers on a "
            "machine, is the local rank only by luck: a machine need not have as many workers as "
            "GPUs, nor as many as the others. hvd.local_rank() knows it.",
        ),
        Hint(
            "no GPU chosen",
            lambda look: look.inputs[0]["use_cuda"] and "none chosen" in look.left("GPU"),
            "No GPU was chosen although use_cuda is true: all workers of a machine would crowd "
            "onto its first GPU.",
        ),
        Hint(
            "all on one GPU",
            lambda look: look.inputs[0]["use_cuda"] and len(set(look.left("GPU"))) == 1,
            "All workers chose the same GPU: each needs the one of its own local rank.",
        ),
        Hint(
            "another GPU",
            lambda look: look.differs("GPU"),
            "A worker chose another GPU than that of its local rank, which hvd.local_rank() tells.",
        ),
        Hint(
            "other seed on each rank",
            lambda look: look.ranks_differ("seed of torch"),
            "The workers were seeded differently. Use the seed as it is given: what has to differ "
            "from worker to worker here, the sampler takes care of.",
        ),
        Hint(
            "not seeded with 0",
            lambda look: look.inputs[0]["seed"] == 0 and 0 not in look.left("seed of torch"),
            "torch was not seeded with the given seed. Does an `if` or an `or` stand before it? "
            "They take 0 for no seed, and it is one like any other.",
        ),
        Hint(
            "not seeded",
            lambda look: look.inputs[0]["seed"] not in look.left("seed of torch"),
            "torch was not seeded with the given seed: torch.manual_seed does that, on the CPU and "
            "on every GPU.",
        ),
        Hint(
            "many threads",
            lambda look: look.differs("number of CPU threads"),
            "torch still uses several CPU threads. Workers on one machine share its cores: one "
            "thread each, by torch.set_num_threads.",
        ),
        NOTHING,
        Hint(
            "size for local rank",
            lambda look: (
                _first_two(look) and [got[2] for got in look.returned] == look.given("per_node")
            ),
            "The third item is the number of workers on this machine, not this worker's place "
            "among them.",
        ),
        Hint(
            "rank for local rank",
            lambda look: _first_two(look) and [got[2] for got in look.returned] == [*look.ranks],
            "The third item is the rank once more: the local rank counts on each machine from 0.",
        ),
        Hint("other order", _same_items, "The order is rank, size, local rank."),
    ),
)
