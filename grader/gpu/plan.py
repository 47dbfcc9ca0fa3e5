"""The steps of `make gpu`, in order: the most important first, what takes long last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.gpu.runner import Step
from grader.gpu.wheels import CannotRun

BESIDE = ("references", "answers")  # these measure nothing, and may run side by side

#: TensorFlow's and Horovod's labs have ranks of their own kind, which need these frameworks
RECORDED = (
    "01-message-passing", "02-toy-model", "03-cifar10-ddp", "04-ring-allreduce", "05-scaling-up",
    "06-model-parallel", "09-when-it-breaks", "10-sharding-and-overlap",
    "11-long-sequences-and-experts",
)  # fmt: skip
#: lab 09's exercises are about stores, files and numbers
ON_TENSORS = tuple(lab for lab in RECORDED if not lab.startswith("09"))
#: seconds that the answers of a lab may take; in lab 02 each answer starts processes that import
#: torch (`run_demo`), or makes two groups in each of ten cases (`setup`)
ANSWERS, SPAWNING = 200, {"02-toy-model": 300}
#: name → title, and seconds that it may take
SCRIPTS = {
    "small": ("the record's small network with all options to 94%", 130),
    "fast": ("ResNet-18 with all options to 94%", 180),
    "plain": ("ResNet-18 without them", 130),
}


def steps(pretend: bool = False) -> list[Step]:
    """All steps, in the order in which they begin.

    Args:
        pretend: on the CPU, in small sizes, and with longer limits: this machine may be slow.
    """
    slower = 3 if pretend else 1

    def step(name: str, title: str, module: str, *words: str, seconds: float) -> Step:
        command = ("-m", f"grader.gpu.steps.{module}", *words)
        return Step(name, title, command, seconds * slower, beside=module in BESIDE)

    def script(name: str) -> Step:
        title, seconds = SCRIPTS[name]
        return step(f"script-{name}", title, "script", name, seconds=seconds)

    def each_lab(
        kind: str, told: str, labs: Sequence[str], seconds: float, longer: Mapping[str, float] = {}
    ) -> list[Step]:
        if pretend:  # in one process: most of the time would go into starting
            return [step(kind, told, kind, *labs, seconds=seconds)]
        return [
            step(f"{kind}-{lab[:2]}", f"{lab}: {told}", kind, lab, seconds=longer.get(lab, seconds))
            for lab in labs
        ]

    on_tensors = "solutions and right answers on CUDA tensors"
    return [
        *each_lab("references", "recorded, and compared with the committed ones", RECORDED, 150),
        *each_lab("answers", on_tensors, ON_TENSORS, ANSWERS, SPAWNING),
        script("small"),
        script("fast"),
        script("plain"),
        step("recorder", "what recording costs", "recorder", seconds=60),
        step("prover", "programs that hang and right ones: what is said", "prover", seconds=70),
        step("scaling", "images/s over the number of GPUs", "scaling", seconds=90),
    ]


def chosen(steps: Sequence[Step], names: Sequence[str]) -> list[Step]:
    """The steps of these names, in their own order.

    Raises:
        CannotRun: there is none of one of these names.
    """
    known = {step.name for step in steps}
    for name in names:
        if name not in known:
            raise CannotRun(f"there is no step {name!r}: choose from {', '.join(sorted(known))}")
    return [step for step in steps if step.name in names]
