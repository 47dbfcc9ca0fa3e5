"""A meeting of workers over a store, drawn: who called when, and who got what."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from distlab.course.lab09_when_it_breaks.meeting import (
    TCP,
    Answer,
    Call,
    Meeting,
    raise_what_ended,
)
from distlab.processes.wrong_argument import WrongArgument, takes

PATIENCE = 3.0  # seconds after the last call and its `seconds`
_BAR, _STILL = "#0072B2", "#D55E00"


def hold_meeting(
    rank: int, size: int, function, calls: list[Call | None], store: str, patience: float
):
    with Meeting(function, len(calls), store) as meeting:
        answers = meeting.hold(calls, patience)
    for answer in filter(None, answers):
        raise_what_ended(vars(answer))
    return answers


def _said(answer: Answer | None) -> str:
    if answer is None:
        return "did not call"
    return "still waits" if answer.returned is None else f"got {answer.value!r}"


class Met:
    """A meeting that is over: `answers`, with `None` for each worker that made no call."""

    def __init__(self, names: Sequence[str], answers: list[Answer | None], over: float) -> None:
        self.names, self.answers, self._over = list(names), answers, over

    @property
    def returned(self) -> list[Any]:
        """What each worker got."""
        return [answer and answer.value for answer in self.answers]

    def __repr__(self) -> str:
        told = zip(self.names, self.answers, strict=True)
        return "\n".join(f"{name} {_said(answer)}" for name, answer in told)

    def draw(self, title: str = "", lines: dict[str, float] | None = None):
        """Draw each worker's call as a bar from its beginning to its end.

        Args:
            lines: moments to mark, by what to write there, in seconds from the start.
        """
        import matplotlib.pyplot as plt

        height = 0.45 * len(self.names) + 1.3
        figure, axis = plt.subplots(figsize=(9, height), layout="constrained")
        last = max((a.returned or self._over for a in self.answers if a), default=self._over)
        for row, answer in enumerate(self.answers):
            if answer is None:
                axis.text(0, row, "does not call", va="center", color="grey", style="italic")
                continue
            end = answer.returned if answer.returned is not None else self._over
            colour = _BAR if answer.returned is not None else _STILL
            axis.barh(row, max(end - answer.called, 0.004 * last), 0.5, answer.called, color=colour)
            told = str(answer.value) if answer.returned is not None else "still waits"
            axis.text(end + 0.015 * last, row, told, va="center")
        for name, moment in (lines or {}).items():
            axis.axvline(moment, color="black", linestyle="--", linewidth=1)
            axis.text(moment, -0.75, f" {name}", va="center", ha="left", fontsize=9)
        axis.set(
            yticks=range(len(self.names)),
            yticklabels=self.names,
            xlabel="seconds",
            title=title,
            xlim=(-0.02 * last, 1.3 * last),
            ylim=(len(self.names) - 0.4, -1.1),
        )
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
        plt.show()


def _need_to_fit(function: Callable[..., Any], call: Call) -> None:
    try:
        inspect.signature(function).bind(None, *call.args)
    except TypeError as error:
        wanted = "meet calls the function with the store, then with a worker's arguments"
        raise WrongArgument(f"{wanted}, here {call.args} ({error})") from None
    except ValueError:  # what is not written in Python may have no signature
        return


_CALLS = (
    "meet takes the calls as a dictionary, {name: (second, (argument, …)), …}: who calls, when, "
    "and with which arguments after the store. A tuple of one argument has a comma: (3,)"
)


@takes("meet takes a function and the calls, meet(roll_call, calls) say")
def meet(
    function: Callable[..., Any],
    calls: dict[str, tuple[float, tuple] | None],
    store: str = TCP,
    patience: float = PATIENCE,
) -> Met:
    """Have workers call `function(store, *args)`, each a process with its own connection.

    Args:
        calls: for each worker's name (seconds from the start at which it calls, arguments after
            the store); `None` for a worker that makes no call.
        patience: seconds for all of it; a worker that has not returned by then is drawn as waiting.

    Raises:
        WrongArgument: these are no calls, or they do not fit the function.
    """
    from distlab.engines.ranks import Ranks

    try:
        planned = [call and Call(float(call[0]), tuple(call[1])) for call in calls.values()]
    except (AttributeError, TypeError, ValueError, LookupError):
        raise WrongArgument(_CALLS) from None
    for call in filter(None, planned):
        _need_to_fit(function, call)
    held = Ranks(1).run(hold_meeting, function, planned, store, patience, deadline=patience + 60)
    return Met(list(calls), held[0], patience)
