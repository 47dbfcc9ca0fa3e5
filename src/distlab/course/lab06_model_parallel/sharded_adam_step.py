"""`sharded_adam_step`: ZeRO's first stage: each rank keeps the moments of its own share."""

from __future__ import annotations

import numpy as np

from distlab.exercises import hints
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.inputs import portable

_PASSING = 4  # shares beside the moments that the variables of a generator may hold in between
FEW = 8  # elements beside the moments that a state may hold: counts of steps and the like
_BEYOND = "number of elements in the state beyond 2⌈n/size⌉ and a few scalars"
_SHORT = "number of elements of moments that are kept elsewhere"
_FIRST = "parameters after the first step"


def _training(case: Case) -> list[dict]:
    """Gradients between 1e-9 and 1: Adam hides a constant factor in all but the smallest of them.

    Over the ranks an element's gradients have one sign, so that no order of adding them matters.
    """
    shapes, dtype, shared = case.params["shapes"], case.get("dtype", "float32"), case.generator()
    parameters = [np.asarray(shared.uniform(-0.1, 0.1, shape), dtype) for shape in shapes]
    gradients = []  # [step][rank][tensor]
    for _ in range(case.params["steps"]):
        base = [10 ** shared.uniform(-9, 0, s) * shared.choice([-1, 1], s) for s in shapes]
        gradients.append(
            [
                [portable(b * shared.uniform(0.5, 1.5, np.shape(b)), dtype) for b in base]
                for _ in range(case.size)
            ]
        )
    return [{"parameters": parameters, "gradients": gradients}] * case.size


def _own_gradients(inputs: dict, rank: int, size: int) -> dict:
    return inputs | {"gradients": [step[rank] for step in inputs["gradients"]]}


def _call_adam(function, rank, size, inputs):
    """Two models take their steps in turn, each with a state of its own."""
    models = [_Model(inputs), _Model(inputs, negated=True)]
    for step in range(len(inputs["gradients"])):
        for model in models:
            model.step(function, rank, size, step)
    return {
        "parameters": [model.parameters for model in models],
        _FIRST: models[0].after_one,
        _BEYOND: max(model.beyond for model in models),
        _SHORT: max(model.short for model in models),
    }


class _Model:
    """Parameters, their gradients and the optimizer's state; `negated`: all with the other sign."""

    def __init__(self, inputs, negated: bool = False) -> None:
        sign = -1 if negated else 1
        self.gradients = [[g * sign for g in step] for step in inputs["gradients"]]
        self.parameters = [p * sign for p in inputs["parameters"]]
        self.after_one: list = []
        self.state: dict = {}
        self.beyond = self.short = 0

    def step(self, function, rank: int, size: int, number: int) -> None:
        from distlab.course.lab06_model_parallel.kept import elements

        gradients = [g.clone() for g in self.gradients[number]]
        # a list of its own: only the tensors in it count
        function(rank, size, list(self.parameters), gradients, self.state)
        self.after_one = self.after_one or [p.clone() for p in self.parameters]
        count = sum(p.numel() for p in self.parameters)
        share = -(-count // size)
        kept = elements([self.state, *map(vars, self.parameters)], besides=self.parameters)
        held = kept.lasting + kept.passing
        # a generator's variables: its moments, its share of parameters and gradients, and two more
        most = max(kept.lasting, held - _PASSING * share)
        self.beyond = max(self.beyond, most - 2 * share - FEW)
        # where all but the last share are rounded up, the last is so much shorter; floats and bytes
        # hold moments as well
        self.short = max(self.short, 2 * (count // size - size) - held - kept.floats)


def _tensors(look: Look) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """(rank, the right parameter, the one found) of both models."""
    return [
        (rank, right, found)
        for rank, models in enumerate(look.pairs("parameters"))
        for model in zip(*models, strict=True)
        for right, found in zip(*model, strict=True)
    ]


def _digits_kept(look: Look) -> str | None:
    """No float64 parameter went through float32 on the way: then float32 holds it exactly.

    A tolerance cannot tell: a right answer whose β₂ᵗ is a float32 tensor is farther off.
    """
    for rank, right, found in _tensors(look):
        if found.dtype == np.float64 and (_short(found) & ~_short(right)).any():
            return (
                f"rank {rank}'s parameters are float64, and have no more digits than float32 has."
            )
    return None


def _short(numbers: np.ndarray) -> np.ndarray:
    """Which of these can float32 hold?"""
    return numbers.astype("float32") == numbers


def _mistake(look: Look, rank: int) -> str:
    """The hint on the mistake that leads to just these parameters; "" for none that is known."""
    given = look.inputs[rank]["parameters"]
    steps = look.inputs[rank]["gradients"]  # [step][rank][tensor]
    got, after_one = look.got[rank]["parameters"][0], look.got[rank][_FIRST]
    means = [[np.mean(some, axis=0) for some in zip(*step, strict=True)] for step in steps]
    for mistake, other in (
        ("", {}),
        ("sum for mean", {"factor": look.size}),
        ("divided twice", {"factor": 1 / look.size}),
        ("the other way", {"factor": -1}),
        ("steps from two", {"begin": 2}),
        ("one moment not corrected", {"corrected_by": (0, 0.999)}),
        ("one moment not corrected", {"corrected_by": (0.9, 0)}),
    ):
        if _near(got, _trained(given, means, **other)):
            return mistake
    if _near(got, given):
        return "not in place"
    if _near(got, given, *(_trained(given, [step[r] for step in steps]) for r in look.ranks)):
        return "own gradients"
    first = _trained(given, means[:1])
    if _near(after_one, first):
        return "wrong from the second step on"
    if _near(after_one, first, given):
        return "elements left out"
    large = [np.abs(mean) > 1e-2 for mean in means[0]]
    if _near(*([p[at] for p, at in zip(some, large, strict=True)] for some in (after_one, first))):
        return "wrong where gradients are small"
    moved, right = _moved(given, after_one), _moved(given, first)
    return "moments not corrected" if 2.8 * right < moved < 3.5 * right else ""


def _trained(
    parameters, gradients, factor: float = 1, begin: int = 1, corrected_by=(0.9, 0.999)
) -> list[np.ndarray]:
    """What Adam (Kingma and Ba, 2015) makes of them on one process, with torch's defaults.

    Args:
        gradients: [step][tensor].
        factor: by which they are multiplied first.
        begin: the number of the first step.
        corrected_by: the betas that correct the moments; 0 corrects nothing.
    """
    trained = []
    for parameter, steps in zip(parameters, zip(*gradients, strict=True), strict=True):
        now, first, second = parameter.astype("float64"), 0.0, 0.0
        for number, gradient in enumerate(steps, begin):
            step = factor * gradient.astype("float64")
            first, second = 0.9 * first + 0.1 * step, 0.999 * second + 0.001 * step**2
            mean, square = (1 - beta**number for beta in corrected_by)
            now = now - 1e-3 * (first / mean) / (np.sqrt(second / square) + 1e-8)
        trained.append(now)
    return trained


def _near(some, *others) -> bool:
    """Is each element near that of one of the others? Wider than the judge's tolerance."""
    for found, *twins in zip(some, *others, strict=True):
        close = [np.abs(found - twin) <= 2e-6 + 1e-5 * np.abs(twin) for twin in twins]
        if not np.logical_or.reduce(close).all():
            return False
    return True


def _moved(before, after) -> float:
    """The largest step that an element has made."""
    steps = [np.abs(a - b).max(initial=0.0) for a, b in zip(before, after, strict=True)]
    return float(max(steps, default=0.0))


def _made(mistake: str, on=any):
    """A hint's `shows`: did some rank make this mistake, or each of them?"""
    return lambda look: look.size > 1 and on(_mistake(look, r) == mistake for r in look.ranks)


def _mistaken(name: str, says: str, on=any) -> Hint:
    """The hint on a mistake that has its name."""
    return Hint(name, _made(name, on), says)


def _flat(tensors: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([tensor.ravel() for tensor in tensors])


def _own_share_alone(look: Look) -> bool:
    """Is each element right on some rank, and none of the ranks right in all of them?"""
    models = [(_flat(want[0]), _flat(got[0])) for want, got in look.pairs("parameters")]
    wrong = np.array([~np.isclose(got, want, 1e-5, 1e-6) for want, got in models])
    return (
        look.size > 1 and wrong.any(axis=1).sum() >= look.size - 1 and not wrong.all(axis=0).any()
    )


def _nearly(look: Look) -> bool:
    """Are the parameters wrong, and all within a hundredth of one step's length of the right?"""
    return look.differs("parameters") and all(
        np.abs(found - right).max(initial=0) < 1e-5 for _, right, found in _tensors(look)
    )


def _all_hold_less(look: Look) -> bool:
    """Does every rank hold less than its share?"""
    return min(look.left(_SHORT)) > 0


exercise = Exercise(
    points=5,
    make=_training,
    share=_own_gradients,
    call=_call_adam,
    tolerance=Tolerance(rtol=1e-5, atol=1e-6),
    deadline=60.0,  # the largest case, element by element in Python
    asks="sharded_adam_step takes one step of Adam on the mean of all ranks' gradients: each rank "
    "keeps the moments of its share of the elements alone, updates that share, and in the end all "
    "ranks hold all parameters, changed in place.",
    visible=(
        Case(2, 1, {"shapes": [[4, 3], [3]], "steps": 3}),
        Case(3, 2, {"shapes": [[20, 10], [7], [2, 2]], "steps": 4}),
    ),
    rules=(_digits_kept,),
    hints=(
        Hint(
            "state not divided",
            lambda look: max(look.left(_BEYOND)) > 0,
            "A rank's state holds more than its share: two moments for ⌈n/size⌉ elements, n "
            "counting the elements of all tensors. Whole tensors cannot be dealt out evenly: one "
            "may be larger than all the others. What is kept in an attribute of a parameter, as a "
            "copy of the parameters, or in the variables of a function or generator counts as "
            "well.",
        ),
        Hint(
            "uneven shares",
            lambda look: max(look.left(_SHORT)) > 0 and not _all_hold_less(look),
            "Some ranks hold fewer moments than their share, ⌈n/size⌉ elements (n counting those "
            "of all tensors), and others do not: what such a rank lacks counts as kept elsewhere. "
            "Whole tensors cannot be dealt out evenly: one may be larger than all the others.",
        ),
        Hint(
            "nothing done",
            lambda look: _made("not in place")(look) and _all_hold_less(look),
            "The parameters are as they were, and the states hold less than the moments of each "
            "rank's share. The moments are kept in `state`, and the result is written into the "
            "tensors that you were given (copy_, add_, sub_): what is returned is ignored.",
        ),
        Hint(
            "kept elsewhere",
            _all_hold_less,
            "The states hold less than the two moments of each rank's share, as far as tensors are "
            "found in them: in lists, objects, closures and generators as well. `state` is where "
            "the moments are kept from one step to the next, and nowhere else: what is kept for "
            "all calls is mixed up when several models take turns, and nobody sees how much memory "
            "it takes. (`state = {…}` gives that name to another dict, which nobody else sees.)",
        ),
        _mistaken(
            "not in place",
            "The parameters are as they were. Write into the tensors that you were given (copy_, "
            "add_, sub_): `p = p - …` makes a new one that nobody else sees.",
        ),
        _mistaken(
            "sum for mean",
            "These are the parameters that the sum of the gradients gives. Adam divides by the "
            "gradients' size, so it almost hides the factor: only gradients near eps tell.",
        ),
        _mistaken(
            "divided twice",
            "These are the parameters that come of dividing the sum of the gradients by `size` "
            "twice. Adam almost hides the factor: only gradients near eps tell.",
        ),
        _mistaken(
            "own gradients",
            "Where these parameters have moved, it is as a rank's own gradients move them: the "
            "gradients of all ranks have to be averaged first.",
        ),
        _mistaken(
            "the other way",
            "The parameters have moved as far as they should have, in the opposite direction: a "
            "step goes against the gradient.",
        ),
        _mistaken(
            "steps from two",
            "These are the parameters that come of counting the steps from 2. In the correction of "
            "the moments, 1 − β**t, t is 1 in the first step.",
        ),
        Hint(
            "own share alone",
            _own_share_alone,
            "Each element is right on some rank and not on the others: after the update, all ranks "
            "have to get all shares.",
        ),
        Hint(
            "NaN",
            lambda look: hints.poisoned(look.left("parameters")),
            "There are NaNs. 1 − β**t is 0 for t = 0: the first step is number 1. And a buffer "
            "that was made by torch.empty holds anything until something is written into it.",
        ),
        _mistaken(
            "moments not corrected",
            "The first step is about three times too large: the moments begin at 0, and Adam makes "
            "up for that by dividing them by 1 − β**t.",
            on=all,
        ),
        _mistaken(
            "one moment not corrected",
            "These are the parameters that come of correcting one moment alone. Both begin at 0, "
            "and each is divided by 1 − β**t with its own β.",
        ),
        Hint(
            "nearly right",
            _nearly,
            "The parameters are nearly right, but farther off than rounding would leave them. "
            "Plain Adam has no weight decay (torch.optim.AdamW has some, unless it is told not "
            "to), each moment is decayed by its own beta, and nothing here is of a narrower dtype "
            "than the parameters.",
        ),
        _mistaken(
            "elements left out",
            "After the first step some elements are as they were, and the others are right. Does "
            "each element belong to some rank's share, where `size` does not divide their number? "
            "(Or their gradients were lost in a narrower dtype.)",
            on=all,
        ),
        _mistaken(
            "wrong where gradients are small",
            "The first step is right where gradients are large, and wrong where they are small. "
            "There eps counts: it is added to the root of the corrected second moment, "
            "√(v/(1 − β₂ᵗ)) + eps, not under the root and not before the correction. (Or they were "
            "lost in a narrower dtype.)",
            on=all,
        ),
        _mistaken(
            "wrong from the second step on",
            "The first step is right, a later one is not. Does every step find the moments of the "
            "step before in `state`, and the number of the step? Several models may take "
            "turns, each with a state of its own, and one step is one call, however many tensors. "
            "(And is each moment decayed by its own beta?)",
            on=all,
        ),
        Hint(
            "float32 on the way",
            lambda look: _digits_kept(look) is not None,
            "Float64 parameters came back rounded to float32. What they go through has to have "
            "their own dtype: torch.empty and torch.zeros make float32 unless told otherwise, "
            "empty_like and zeros_like take the dtype of what they are given.",
        ),
    ),
)
