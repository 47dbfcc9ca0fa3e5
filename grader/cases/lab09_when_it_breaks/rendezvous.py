"""Hidden cases of `rendezvous`."""

from string import ascii_lowercase
from typing import Any

from grader.cases import Chance, Drawn
from grader.cases.lab09_when_it_breaks.stores import HASH, SLOW, SLOW_WRITERS, TCP

#: names that an answer may give to keys of its own, too
WORDS = (
    "1", "closed", "count", "counter", "door", "end", "members", "n", "names", "nodes", "size",
    "tickets", "workers",
)  # fmt: skip
MANY = len(WORDS)  # workers of whom some have places of two digits, however they are counted


def _names(chance: Chance, count: int) -> list[str]:
    """Different names, the last in their order first: no worker's rank is that of its arrival."""
    letters = [
        ascii_lowercase[place] for place in chance.rising(count, 0, len(ascii_lowercase) - 1)
    ]
    return [f"{letter}{chance.whole(1, 99)}" for letter in reversed(letters)]


def _rendezvous(chance: Chance, nodes: list[str], *rounds: list, **params: Any) -> dict:
    """These workers, of which each is some rank.

    Args:
        rounds: (generation, when each node calls).
    """
    order = chance.order(range(len(nodes)))
    rounds = [[generation, [moments[i] for i in order]] for generation, moments in rounds]
    return {"nodes": [nodes[i] for i in order], "rounds": rounds, **params}


def _odd_names(chance: Chance) -> dict:
    """Names with a comma, with more than ASCII in them, and with a capital, which comes before all
    small letters; another one comes late.
    """
    odd = [f"rack {chance.whole(2, 9)}, gpu {chance.whole(0, 7)}", f"Ä{chance.whole(1, 99)}"]
    plain = chance.order([f"{letter}{chance.whole(1, 99)}" for letter in "YZ"])
    nodes = [*sorted([*odd, plain[0]], reverse=True), plain[1]]
    rounds = [chance.whole(1, 10**6), [0.0, 0.1, 0.5, 1.5]]
    return _rendezvous(chance, nodes, rounds, store=TCP, seconds=0.8)


def _three_generations(chance: Chance) -> dict:
    """The second is called like the first and its worker 1, written side by side, and what workers
    11 and 12 of the first leave is called like what workers 1 and 2 of the second do. The last is
    0, which whoever writes `generation or 1` takes for the first.
    """
    nobody = [None] * (MANY - 2)
    rounds = [1, [0.0] * MANY], [11, [0.0, 1.0, *nobody]], [0, [None, 0.0, *nobody]]
    return _rendezvous(chance, sorted(WORDS, reverse=True), *rounds, store=HASH, seconds=0.5)


def _own_clocks(chance: Chance) -> dict:
    rounds = [chance.whole(1, 10**6), [0.0, 0.2, 1.2]]
    return _rendezvous(chance, _names(chance, 3), rounds, store=TCP, seconds=0.6, clocks="differ")


def _over_at_once(chance: Chance) -> dict:
    """So short that whoever waits a second at least is late, also when it is repeated longer."""
    rounds = [chance.whole(1, 10**6), [0.0, 0.0]]
    return _rendezvous(chance, _names(chance, 2), rounds, store=HASH, seconds=0.05)


def _at_the_end(chance: Chance) -> dict:
    """Two of them are counted a second after their call and before the end, and have written their
    names a second later, after it: who does not wait for these reads too few. (Also on a machine
    that has the others half a second late.)
    """
    moments = [0.0, 0.05, 1.19, 0.1, 1.2]
    return {
        "store": SLOW_WRITERS, "slowness": 1.0, "seconds": 1.2, "nodes": _names(chance, 5),
        "rounds": [[chance.whole(1, 10**6), moments]],
    }  # fmt: skip


def _slow_to_close(chance: Chance) -> dict:
    """The first worker is slow, and has put up its sign only when the three quick ones that come
    next have waited `seconds` since their own calls.
    """
    moments = [0.0, 0.18, 0.6, 0.21, 0.7, 0.24]
    return {
        "store": SLOW, "slowness": 0.15, "seconds": 2.6, "nodes": _names(chance, 6),
        "rounds": [[chance.whole(1, 10**6), moments]],
    }  # fmt: skip


def _crowd(seed: int, workers: int, **params: Any) -> Drawn:
    """Many workers on a slow store, told of by one rank."""

    def drawn(chance: Chance) -> dict:
        nodes = [f"node {number}" for number in chance.rising(workers, 100, 999)]
        return {"store": SLOW, "workers": workers, "nodes": nodes[::-1], **params}

    return Drawn(1, seed, drawn)


HIDDEN = (
    Drawn(4, 101, _odd_names),
    _crowd(102, 21, seconds=0.6, crowd="at the end"),
    _crowd(106, 8, seconds=2.0, slowness=0.1, crowd="at the beginning"),
    Drawn(1, 108, _slow_to_close),
    Drawn(1, 103, _three_generations),
    Drawn(3, 104, _own_clocks),
    Drawn(5, 105, _at_the_end),
    Drawn(2, 107, _over_at_once),
)
