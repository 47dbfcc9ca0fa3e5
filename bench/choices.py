"""What it costs to try every schedule: a check of an answer without a choice of the sender, and of
one with it.

python -m bench.choices

Both answer lab 04's `sync_parameter_server`, one by naming each source, the other by receiving from
anybody. The first is judged also with exploration left out, as if there were none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import torch
import torch.distributed as dist

from bench import Row, header, in_turn, show

LAB, REPEATS = "04-ring-allreduce", 9


def server(rank, size, parameters, gradients, lr, from_anybody):
    if rank > 0:
        for gradient in gradients:
            dist.send(gradient, 0)
        for parameter in parameters:
            dist.recv(parameter, 0)
        return parameters
    total = [torch.zeros_like(gradient) for gradient in gradients]
    for worker in range(1, size):
        source = None if from_anybody else worker
        for tensor in total:
            buffer = torch.empty_like(tensor)
            source = dist.recv(buffer, source)
            tensor += buffer
    for parameter, gradient in zip(parameters, total, strict=True):
        parameter -= lr * gradient / (size - 1)
    for worker in range(1, size):
        for parameter in parameters:
            dist.send(parameter, worker)
    return parameters


def measure() -> Iterator[Row]:
    from distlab import course
    from distlab.checking.check import Local
    from distlab.exercises.judge import judge
    from distlab.exercises.reference import References
    from grader.coursedir import LABS

    references = References(LABS / LAB, "reference")
    asked = course.find(f"{LAB}/sync_parameter_server")
    alone = replace(asked, schedules=False)

    def seconds(exercise, from_anybody: bool) -> float:
        def answer(*arguments):
            return server(*arguments, from_anybody=from_anybody)

        begin = time.perf_counter()
        verdict = judge(exercise, exercise.visible, references, Local(answer, 4))
        spent = time.perf_counter() - begin
        assert verdict.status == "passed", verdict.message
        return spent

    for _ in range(2):
        seconds(asked, False)
    without, with_choices = in_turn(
        lambda: seconds(asked, False), lambda: seconds(asked, True), REPEATS
    )
    yield Row("3 cases, no choice", without, with_choices, "the same cases from anybody")
    off, on = in_turn(lambda: seconds(alone, False), lambda: seconds(asked, False), REPEATS)
    yield Row("3 cases, no choice, no exploration", off, on, "with exploration")


if __name__ == "__main__":
    print(header())
    show(measure())
