"""`balance_loss`: how evenly the experts of all ranks are used, by one all-reduce."""

from __future__ import annotations

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import carried
from distlab.exercises import hints
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.inputs import portable
from distlab.exercises.traffic import called


def _make(case: Case) -> list[dict]:
    """`tokens`: how many each rank has; `kept`: the share that has an expert."""
    counts, experts = case.params["tokens"], case.params["experts"]
    dtype, kept = case.get("dtype", "float32"), case.get("kept", 0.8)
    inputs = []
    for rank in range(case.size):
        drawn = case.generator(rank)
        # ranks prefer different experts, so that a rank's own loss is not that of all
        logits = (
            drawn.standard_normal((counts[rank], experts))
            + 2 * np.eye(experts)[(rank + case.seed) % experts]
        )
        exp = np.exp(logits)
        probabilities = exp / exp.sum(axis=1, keepdims=True)
        # not always the most probable: so that argmax in place of `expert` gives another loss
        expert = np.where(
            drawn.random(counts[rank]) < 0.7,
            probabilities.argmax(1),
            drawn.integers(0, experts, counts[rank]),
        )
        expert = np.where(drawn.random(counts[rank]) < kept, expert, -1)
        inputs.append(
            {"probabilities": portable(probabilities, dtype), "expert": expert.astype("int64")}
        )
    return inputs


def _all(look: Look) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and experts of all tokens of all ranks."""
    probabilities = np.concatenate(look.given("probabilities"))
    return probabilities.astype("float64"), np.concatenate(look.given("expert"))


def _counts(expert: np.ndarray, experts: int) -> np.ndarray:
    return np.bincount(expert[expert >= 0], minlength=experts)


def _loss(probabilities: np.ndarray, expert: np.ndarray, tokens: float | None = None) -> float:
    experts = probabilities.shape[1]
    tokens = len(expert) if tokens is None else tokens
    return float(experts * _counts(expert, experts) @ probabilities.sum(0) / tokens**2)


def _own(look: Look) -> list[float]:
    """What each rank's own tokens would give."""
    return [
        _loss(given["probabilities"].astype("float64"), given["expert"])
        if len(given["expert"])
        else float("nan")
        for given in look.inputs
    ]


def _numbers(look: Look) -> list[float]:
    return [float(got) for got in look.returned]


def _are(look: Look, *values: float) -> bool:
    """Did every rank return the same one of these numbers, and is that wrong?"""
    numbers, right = _numbers(look), look.wanted[0]
    return any(
        np.allclose(numbers, value, rtol=1e-4) and not np.isclose(value, right, rtol=1e-4)
        for value in values
    )


def _mean_or_sum_of_losses(look: Look) -> bool:
    own = np.nan_to_num(_own(look))
    return look.size > 1 and _are(look, own.mean(), own.sum())


def _mean_of_means(look: Look) -> bool:
    """Shares and mean probabilities of each rank, averaged over the ranks."""
    experts = look.case.params["experts"]
    f, p = np.zeros(experts), np.zeros(experts)
    for given in look.inputs:
        count = max(len(given["expert"]), 1)
        f += _counts(given["expert"], experts) / count
        p += given["probabilities"].sum(0) / count
    return look.size > 1 and _are(look, experts * f @ p / look.size**2)


def _dropped_left_out(look: Look) -> bool:
    """Were tokens without an expert left out of the shares, of shares and means, or altogether?"""
    probabilities, expert = _all(look)
    kept = expert >= 0
    count = max(kept.sum(), 1)
    return _are(
        look,
        _loss(probabilities, expert, tokens=(count * len(expert)) ** 0.5),
        _loss(probabilities, expert, tokens=count),
        _loss(probabilities[kept], expert[kept], tokens=count),
    )


def _dropped_counted(look: Look) -> bool:
    probabilities, expert = _all(look)
    as_first, as_last = expert.clip(min=0), expert % probabilities.shape[1]
    return _are(look, _loss(probabilities, as_first), _loss(probabilities, as_last))


def _argmax(look: Look) -> bool:
    probabilities, _ = _all(look)
    return _are(look, _loss(probabilities, probabilities.argmax(1)))


def _small(look: Look) -> str | None:
    """One all-reduce of at most 2E + 1 elements."""
    experts = look.case.params["experts"]
    for event in look.events("all_reduce"):
        if event.elements > 2 * experts + 1:
            twice = " (a complex one counts as two)" if event.shape[1:] == (2,) else ""
            return f"{called(event)} with {event.elements} elements{twice}; 2E + 1 are enough."
    return None


exercise = Exercise(
    points=2,
    make=_make,
    tolerance=Tolerance(rtol=1e-5, atol=0.0),
    deadline=60.0,  # the largest case, element by element in Python, takes 2 s alone
    asks="balance_loss returns E·Σ f·P over the tokens of all ranks as a float, the same on every "
    "rank, by one all-reduce of at most 2E + 1 elements.",
    visible=(
        Case(2, 1, {"tokens": [5, 3], "experts": 3}),
        Case(3, 2, {"tokens": [4, 0, 7], "experts": 2}),
    ),
    traffic=(carried.exactly(all_reduce=1), _small),
    hints=(
        hints.NOTHING,
        Hint(
            "no plain number",
            lambda look: any(not isinstance(got, (int, float)) for got in look.returned),
            "A plain number is asked for: .item() makes one of a tensor with one element.",
        ),
        carried.messages("One all-reduce is asked for, and no messages."),
        Hint(
            "another collective",
            lambda look: carried.other_ops(look, "all_reduce", "barrier"),
            "One all-reduce is all that is needed: what is asked for are sums over all ranks.",
        ),
        Hint(
            "more than one all-reduce",
            lambda look: any(carried.called(r)["all_reduce"] > 1 for r in look.records),
            "There was more than one all-reduce. Put all that is to be added up into one tensor: "
            "a small message costs its latency, whatever it holds.",
        ),
        Hint(
            "too many elements",
            lambda look: _small(look) is not None,
            "The all-reduce carries more than it needs: for each expert one count and one sum, "
            "and the number of tokens. Add up over this rank's tokens first.",
        ),
        Hint(
            hints.EARLY.name,
            lambda look: (
                any(np.isnan(_numbers(look))) and not all(e.blocking for e in look.events())
            ),
            hints.EARLY.says,
        ),
        Hint(
            "NaN",
            lambda look: any(np.isnan(_numbers(look))),
            "There is a NaN. A rank may have no tokens, and then a mean over them is 0 / 0: add "
            "up first, over all ranks, and divide at the end.",
        ),
        Hint(
            "own tokens alone",
            lambda look: look.size > 1 and np.allclose(_numbers(look), _own(look), rtol=1e-4),
            "Each rank returned the loss of its own tokens: it is asked for over those of all.",
        ),
        Hint(
            "mean of the ranks' losses",
            _mean_or_sum_of_losses,
            "This adds up or averages the ranks' own losses. It is a product of two means, so "
            "both have to be taken over all ranks before they are multiplied.",
        ),
        Hint(
            "mean of the ranks' means",
            _mean_of_means,
            "These are means of the ranks' means: a rank with few tokens counts as much as one "
            "with many. Add up, over all ranks, and divide by the number of all tokens.",
        ),
        Hint(
            "single expert",
            lambda look: look.case.params["experts"] == 1,
            "There is a single expert here: E and P are 1, and the loss is the share of all tokens "
            "that go to it.",
        ),
        Hint(
            "factor E missing",
            lambda look: _are(look, look.wanted[0] / look.case.params["experts"]),
            "The factor E is missing: with it the loss of a perfect balance is 1, however many "
            "experts there are.",
        ),
        Hint(
            "ranks for experts",
            lambda look: _are(look, look.wanted[0] * look.size / look.case.params["experts"]),
            "The factor is the number of ranks: E is the number of experts, which is that of the "
            "columns of `probabilities`.",
        ),
        Hint(
            "not divided",
            lambda look: _are(look, *(look.wanted[0] * len(_all(look)[1]) ** p for p in (1, 2))),
            "A count or a sum was not divided by the number of tokens: f is a share, P a mean.",
        ),
        Hint(
            "token of nobody",
            lambda look: _are(
                look, _loss(*_all(look), tokens=sum(max(len(e), 1) for e in look.given("expert")))
            ),
            "A rank without tokens was counted as if it had one. Nothing is divided before the "
            "sums over all ranks are there, so it need not count for more than 0.",
        ),
        Hint(
            "dropped tokens left out",
            _dropped_left_out,
            "A token with expert −1 counts for no expert, but it counts as a token: in the "
            "number of tokens, and in the mean of the probabilities.",
        ),
        Hint(
            "dropped tokens counted",
            _dropped_counted,
            "Tokens with expert −1 were counted for the last expert (which −1 is as an index) or "
            "for the first (clamp makes 0 of −1): they count for none.",
        ),
        Hint(
            "best in place of expert",
            _argmax,
            "f counts by `expert`, the expert that a token was sent to, not by its largest "
            "probability.",
        ),
        Hint(
            "size times",
            lambda look: (
                look.size > 1
                and _are(look, *(look.wanted[0] * float(look.size) ** k for k in (-2, -1, 1, 2)))
            ),
            "The loss is off by the number of ranks: sums over all ranks are divided by the "
            "number of all tokens, and by nothing else.",
        ),
        Hint(
            "different on the ranks",
            lambda look: len({round(got, 6) for got in _numbers(look)}) > 1,
            "The ranks do not agree: everything that goes into the loss has to be added up over "
            "all ranks.",
        ),
        Hint(
            "nearly right",
            lambda look: (
                look.wanted[0] > 0 and np.allclose(_numbers(look), look.wanted, rtol=1e-2, atol=0)
            ),
            "This is nearly it: return the number as it comes out, not rounded, and without "
            "anything small added to it.",
        ),
        Hint(
            "another loss",
            lambda look: not np.allclose(_numbers(look), look.wanted),
            "E is the number of columns of `probabilities`, also of those that nobody chose; f and "
            "P have a number for each of them, taken over the tokens of all ranks. Which of the "
            "three is not what it should be?",
        ),
    ),
)
