"""What a test cell does without distlab's engines: `mp.spawn` for each check, in the kernel.

The notebooks that `bench.grading` gives to stock nbgrader call this; cases, harness, references
and comparison are the course's own, so that both sides judge the same.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import cloudpickle
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from distlab import course  # noqa: E402
from distlab.exercises.compare import compare  # noqa: E402
from distlab.exercises.exercise import BROUGHT  # noqa: E402
from distlab.processes import payload  # noqa: E402
from grader import coursedir  # noqa: E402


def check(name: str, answer) -> None:
    """Run all cases of an exercise on ranks spawned for it, and compare.

    Raises:
        AssertionError: an output is not the reference solution's.
    """
    exercise = course.find(name)
    cases = coursedir.cases(exercise)
    with tempfile.TemporaryDirectory() as folder:
        ranks = max(case.size for case in cases)
        mp.spawn(_rank, (name, cloudpickle.dumps(answer), folder), nprocs=ranks)
        for number, case in enumerate(cases):
            for rank, expected in enumerate(coursedir.reference(exercise, case)):
                got = payload.decode((Path(folder) / f"{number}-{rank}").read_bytes())
                for one in (expected, got):  # that it came along is seen by our recorder alone
                    if isinstance(one, dict):
                        one.pop(BROUGHT, None)
                difference = compare(expected, got, exercise.tolerance)
                assert not difference, f"{name}: {difference.in_full()}"


def _rank(rank: int, name: str, answer: bytes, folder: str) -> None:
    torch.set_num_threads(1)
    exercise, function = course.find(name), cloudpickle.loads(answer)
    for number, case in enumerate(coursedir.cases(exercise)):
        if rank >= case.size:
            continue
        store = dist.FileStore(f"{folder}/store-{number}", case.size)
        if exercise.group:
            dist.init_process_group("gloo", store=store, rank=rank, world_size=case.size)
        values = payload.decode(exercise.payloads(exercise.inputs(case))[rank], as_torch=True)
        result = exercise.call(function, rank, case.size, values)
        (Path(folder) / f"{number}-{rank}").write_bytes(payload.encode(result, arrays=False))
        if exercise.group:
            dist.barrier()
            dist.destroy_process_group()
