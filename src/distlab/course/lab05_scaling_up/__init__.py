"""Lab 05: what its exercises ask.

`shard`, `accumulate`, `make_feeding_loader` and `half_precision_hook` have modules of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distlab.course.lab05_scaling_up.accumulating import accumulate
from distlab.course.lab05_scaling_up.compressing import half_precision_hook
from distlab.course.lab05_scaling_up.feeding import make_feeding_loader
from distlab.course.lab05_scaling_up.shards import shard
from distlab.exercises import hints
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look

LAB = "05-scaling-up"
_EXACT = Tolerance(rtol=1e-9, atol=1e-12)


# arithmetic: one call a case, on one rank, without a process group


def _arguments(case: Case) -> list[dict]:
    return [dict(case.params) for _ in range(case.size)]


def _call(function, rank, size, inputs):
    return function(*inputs.values())


def _case(**params: Any) -> Case:
    return Case(1, 0, params)


def _is(value):
    """A sign: the function returned `value(parameters of the case)`, and that is not right."""

    def shows(look: Look) -> bool:
        got, params = look.got[0], look.case.params
        return isinstance(got, (int, float)) and bool(
            np.isclose(got, value(**params), rtol=1e-9, atol=0)
        )

    return shows


_NO_NUMBER = Hint(
    "no plain number",
    lambda look: look.got[0] is not None and not isinstance(look.got[0], (int, float)),
    "Return a plain Python number: here nothing needs a tensor.",
)

effective_batch = Exercise(
    "effective_batch", LAB, 1,
    make=_arguments,
    call=_call,
    asks="effective_batch returns how many images stand behind one update of the weights, an int.",
    visible=(
        _case(per_rank=32, size=4, accumulation=1),
        _case(per_rank=16, size=2, accumulation=8),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "no int",
            lambda look: isinstance(look.got[0], float) and look.got[0] == look.expected[0],
            "A number of images is an int: a plain / always gives a float, also where it divides.",
        ),
        Hint(
            "accumulation left out",
            _is(lambda per_rank, size, accumulation: per_rank * size),
            "Before one update each rank goes through `accumulation` micro-batches, not one.",
        ),
        Hint(
            "ranks left out",
            _is(lambda per_rank, size, accumulation: per_rank * accumulation),
            "This is what one rank goes through: `size` ranks do so at the same time.",
        ),
        Hint(
            "divided by ranks",
            _is(lambda per_rank, size, accumulation: per_rank * accumulation / size),
            "per_rank is already one rank's share: nothing is left to be divided.",
        ),
        Hint(
            "accumulation divided",
            _is(lambda per_rank, size, accumulation: per_rank * size / accumulation),
            "More micro-batches before an update mean more images behind it, not fewer.",
        ),
        Hint(
            "added up",
            _is(lambda per_rank, size, accumulation: per_rank * (size + accumulation)),
            "Ranks and micro-batches multiply: each rank goes through all of its micro-batches.",
        ),
        _NO_NUMBER,
    ),
    group=False,
)  # fmt: skip

linear_scaled_lr = Exercise(
    "linear_scaled_lr", LAB, 1,
    make=_arguments,
    call=_call,
    asks="linear_scaled_lr returns the learning rate that the linear scaling rule gives for "
    "`batch`.",
    visible=(
        _case(base_lr=0.1, base_batch=256, batch=1024),
        _case(base_lr=0.1, base_batch=256, batch=64),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "square root",
            _is(lambda base_lr, base_batch, batch: base_lr * (batch / base_batch) ** 0.5),
            "This is the square-root rule, which exists too: the linear rule is asked for.",
        ),
        Hint(
            "upside down",
            _is(lambda base_lr, base_batch, batch: base_lr * base_batch / batch),
            "The rate went down where the batch went up: the fraction stands on its head.",
        ),
        Hint(
            "whole numbers only",
            _is(lambda base_lr, base_batch, batch: base_lr * (batch // base_batch)),
            "// rounds down: half as large a batch gives a rate of zero.",
        ),
        Hint(
            "never lower",
            _is(lambda base_lr, base_batch, batch: base_lr * max(1, batch / base_batch)),
            "A batch below base_batch is scaled too: its rate is lower than base_lr.",
        ),
        Hint(
            "not divided",
            _is(lambda base_lr, base_batch, batch: base_lr * batch),
            "base_lr belongs to base_batch images: the question is how many times that batch it "
            "is now.",
        ),
        Hint(
            "unscaled",
            _is(lambda base_lr, base_batch, batch: base_lr),
            "This is the base rate itself: nothing was scaled.",
        ),
        _NO_NUMBER,
    ),
    tolerance=_EXACT,
    group=False,
)  # fmt: skip


def _line(step, warmup_steps, base_lr, target_lr):
    return base_lr + (target_lr - base_lr) * step / warmup_steps


warmup_lr = Exercise(
    "warmup_lr", LAB, 2,
    make=_arguments,
    call=_call,
    asks="warmup_lr returns the rate of this step: on a straight line from base_lr at step 0 to "
    "target_lr at step warmup_steps, and target_lr from there on.",
    visible=(
        _case(step=0, warmup_steps=10, base_lr=0.1, target_lr=0.8),
        _case(step=5, warmup_steps=10, base_lr=0.1, target_lr=0.8),
        _case(step=12, warmup_steps=10, base_lr=0.1, target_lr=0.8),
        _case(step=0, warmup_steps=0, base_lr=0.1, target_lr=0.8),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "never ends",
            lambda look: look.case.get("step") > look.case.get("warmup_steps") > 0
            and _is(_line)(look),
            "The line goes on beyond the warm-up: from step warmup_steps on, the rate is "
            "target_lr.",
        ),
        Hint(
            "starts at zero",
            lambda look: look.case.get("warmup_steps") > 0 and _is(
                lambda step, warmup_steps, base_lr, target_lr: target_lr * step / warmup_steps
            )(look),
            "Your line begins at 0: at step 0 the rate is base_lr.",
        ),
        Hint(
            "one step ahead",
            lambda look: look.case.get("warmup_steps") > 0 and _is(
                lambda step, **rest: _line(step + 1, **rest)
            )(look),
            "Your line is one step ahead: at step 0 the rate is base_lr itself.",
        ),
        Hint(
            "one step short",
            lambda look: look.case.get("warmup_steps") > 1 and _is(
                lambda step, warmup_steps, base_lr, target_lr: _line(
                    step, warmup_steps - 1, base_lr, target_lr
                )
            )(look),
            "Your line reaches target_lr one step too early: it gets there at step warmup_steps.",
        ),
        Hint(
            "base added",
            lambda look: look.case.get("warmup_steps") > 0 and _is(
                lambda step, warmup_steps, base_lr, target_lr:
                base_lr + target_lr * step / warmup_steps
            )(look),
            "The line climbs by target_lr: what is left to climb from base_lr is less than that.",
        ),
        Hint(
            "geometric",
            lambda look: look.case.get("warmup_steps") > 0 and _is(
                lambda step, warmup_steps, base_lr, target_lr:
                base_lr * (target_lr / base_lr) ** (step / warmup_steps)
            )(look),
            "The rate grows by the same factor each step: the gradual warm-up adds the same "
            "amount each step.",
        ),
        Hint(
            "cut off",
            lambda look: look.case.get("target_lr") < look.case.get("base_lr")
            and _is(lambda step, warmup_steps, base_lr, target_lr: target_lr)(look),
            "target_lr may also lie below base_lr: a min or max of rates then cuts off the wrong "
            "end. Compare steps instead.",
        ),
        Hint(
            "base all the way",
            lambda look: look.case.get("step") > 0
            and _is(lambda step, warmup_steps, base_lr, target_lr: base_lr)(look),
            "The rate is still base_lr: during the warm-up it climbs with every step.",
        ),
        Hint(
            "no warm-up",
            lambda look: look.case.get("warmup_steps") == 0,
            "With warmup_steps 0 there is no warm-up: the rate is target_lr from step 0 on.",
        ),
        _NO_NUMBER,
    ),
    tolerance=_EXACT,
    group=False,
)  # fmt: skip


# speedup_and_efficiency


def _throughputs(case: Case) -> list[dict]:
    return [{"throughputs": {int(s): t for s, t in case.params["throughputs"]}}]


def _both(pick):
    """A sign: everywhere this (speed-up, efficiency), for some size not the right one."""

    def shows(look: Look) -> bool:
        throughputs = look.inputs[0]["throughputs"]
        wanted = {s: pick(throughputs, s) for s in throughputs}
        return look.same(wanted, look.got[0]) and not look.same(wanted, look.expected[0])

    return shows


def _speedup(throughputs: dict, size: int, base: int | None = None) -> float:
    base = min(throughputs) if base is None else base
    return throughputs[size] * base / throughputs[base]


def _without_base(throughputs: dict, size: int) -> float:
    return throughputs[size] / throughputs[min(throughputs)]


def _pair(speedup: float, size: int) -> tuple[float, float]:
    return speedup, speedup / size


speedup_and_efficiency = Exercise(
    "speedup_and_efficiency", LAB, 2,
    make=_throughputs,
    call=_call,
    asks="speedup_and_efficiency returns {size: (speed-up, efficiency)} for every size measured, "
    "against perfect scaling from the smallest one.",
    visible=(
        _case(throughputs=[[1, 100.0], [2, 190.0], [4, 320.0]]),
        _case(throughputs=[[8, 1500.0], [2, 400.0]]),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "smallest taken for one",
            _both(lambda t, s: _pair(_without_base(t, s), s)),
            "Your smallest size has speed-up 1. It counts as what it is: a measurement that begins "
            "at 2 ranks begins with speed-up 2.",
        ),
        Hint(
            "speed-up without base",
            _both(lambda t, s: (_without_base(t, s), _speedup(t, s) / s)),
            "The efficiencies are right, but a speed-up against b ranks is b times one against a "
            "single rank.",
        ),
        Hint(
            "first taken for smallest",
            _both(lambda t, s: _pair(_speedup(t, s, next(iter(t))), s)),
            "The first size in the dict was taken for the base: keys come in any order.",
        ),
        Hint(
            "percent",
            _both(lambda t, s: (_speedup(t, s), 100 * _speedup(t, s) / s)),
            "Efficiency is a fraction here: 1.0 is perfect.",
        ),
        Hint(
            "upside down",
            _both(lambda t, s: _pair(t[min(t)] / t[s] * min(t), s)),
            "Throughput is work per second, not seconds: more of it is faster.",
        ),
        Hint(
            "rounded",
            lambda look: isinstance(look.got[0], dict) and all(
                abs(g - w) < 0.51
                for s, want in look.expected[0].items()
                for g, w in zip(look.got[0][s], want, strict=True)
            ),
            "Nearly right: return the figures unrounded, as floats, and round when you print.",
        ),
        Hint(
            "sizes missing",
            lambda look: isinstance(look.got[0], dict)
            and set(look.got[0]) < set(look.expected[0]),
            "A size is missing from the result: the smallest one has a speed-up too.",
        ),
        Hint(
            "keys changed",
            lambda look: isinstance(look.got[0], dict)
            and set(look.got[0]) != set(look.expected[0]),
            "The keys of the result are those of the argument, the sizes, as ints.",
        ),
        Hint(
            "swapped",
            _both(lambda t, s: _pair(_speedup(t, s), s)[::-1]),
            "Speed-up first, then efficiency.",
        ),
        Hint(
            "no pairs",
            lambda look: not isinstance(look.got[0], dict)
            or not all(isinstance(v, (tuple, list)) and len(v) == 2 for v in look.got[0].values()),
            "A dict is asked for that has a pair, (speed-up, efficiency), for each size.",
        ),
    ),
    tolerance=_EXACT,
    group=False,
)  # fmt: skip

# model_flops_utilization


model_flops_utilization = Exercise(
    "model_flops_utilization", LAB, 1,
    make=_arguments,
    call=_call,
    asks="model_flops_utilization returns which share of `peak_flops` the model's own arithmetic "
    "takes, 6 floating-point operations for each parameter and token.",
    visible=(
        _case(parameters=1_000_000, tokens_per_second=50_000.0, peak_flops=1e12),
        _case(parameters=7e9, tokens_per_second=3_400.0, peak_flops=312e12),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "percent",
            _is(lambda parameters, tokens_per_second, peak_flops:
                600 * parameters * tokens_per_second / peak_flops),
            "A share is asked for, 1 being all of the peak, not a percentage.",
        ),
        Hint(
            "forward alone",
            _is(lambda parameters, tokens_per_second, peak_flops:
                2 * parameters * tokens_per_second / peak_flops),
            "2 operations for each parameter and token are the forward pass: the backward pass "
            "takes twice as many again.",
        ),
        Hint(
            "backward alone",
            _is(lambda parameters, tokens_per_second, peak_flops:
                4 * parameters * tokens_per_second / peak_flops),
            "4 operations for each parameter and token are the backward pass alone.",
        ),
        Hint(
            "multiplications alone",
            _is(lambda parameters, tokens_per_second, peak_flops:
                3 * parameters * tokens_per_second / peak_flops),
            "A multiplication and an addition are two operations, and peaks count both.",
        ),
        Hint(
            "recomputation counted",
            _is(lambda parameters, tokens_per_second, peak_flops:
                8 * parameters * tokens_per_second / peak_flops),
            "With activation recomputation a machine does 8 operations for each parameter and "
            "token. That is hardware utilization: what the model needs is 6, however it is done.",
        ),
        Hint(
            "no factor",
            _is(lambda parameters, tokens_per_second, peak_flops:
                parameters * tokens_per_second / peak_flops),
            "How many operations does each parameter take part in for one token, forward and "
            "backward?",
        ),
        Hint(
            "upside down",
            _is(lambda parameters, tokens_per_second, peak_flops:
                peak_flops / (6 * parameters * tokens_per_second)),
            "The fraction stands on its head: what was done comes before what could be done.",
        ),
        Hint(
            "tokens divided",
            _is(lambda parameters, tokens_per_second, peak_flops:
                6 * parameters / tokens_per_second / peak_flops),
            "More tokens a second use the machine better: they multiply.",
        ),
        Hint(
            "whole numbers only",
            lambda look: look.got[0] == look.expected[0] // 1 == 0,
            "// rounds down, and a share is less than 1.",
        ),
        Hint(
            "cut off at 1",
            lambda look: look.got[0] == 1 and look.expected[0] > 1,
            "A share above 1 is told as it is: it says that a figure is wrong, such as the peak.",
        ),
        _NO_NUMBER,
    ),
    tolerance=_EXACT,
    group=False,
)  # fmt: skip

EXERCISES = [
    speedup_and_efficiency, shard, effective_batch, linear_scaled_lr, warmup_lr, accumulate,
    make_feeding_loader, half_precision_hook, model_flops_utilization,
]  # fmt: skip
