"""Judge what depends on the clock without blaming an answer for a busy machine.

Answers are judged by the times at which workers really called and returned, with a margin. What
fails is repeated with all times longer, and only what fails again is wrong: an answer that is late
in itself stays late, one that the machine delayed does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

LONGER = 2.5  # factor from one round to the next
BUSY = 0.1  # seconds: where this process itself was as late as that, a failed round proves nothing
MOST = 4  # rounds on a machine that stays busy
PROMISED = 0.5  # seconds within which the contracts have a worker return that need wait no longer
SLACK = 0.2  # seconds that scheduling may add to that


def until_met(hold: Callable[[float], tuple[Found, bool, float]]) -> Found:
    """What `hold` found at the first length at which all was as asked, or at the last.

    Args:
        hold: gets a factor for all times; returns what it found, whether that is as asked, and by
            how many seconds this process was late meanwhile.
    """
    factor = 1.0
    for number in range(1, MOST + 1):
        found, met, lag = hold(factor)
        if met or number >= 2 and lag < BUSY:
            break
        factor *= LONGER
    return found


def filled_up(told: list[str], planned: list[str]) -> None:
    """Add to what a worker's calls told what is planned for those that were not held any more: the
    difference, and with it the message, is then about the call that went wrong.
    """
    told += planned[len(told) :]


def promptly(late: float, lag: float, allowed: float = PROMISED) -> bool:
    """Did a worker return in time that returned `late` seconds after it could have?

    Args:
        lag: by how many seconds this process itself was late meanwhile.
    """
    return late <= allowed + SLACK + 3 * lag
