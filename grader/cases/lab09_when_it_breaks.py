"""Hidden cases of lab 09.

Roll calls of one rank and of five, late ones, two absent in a row, every store; workers that come
while a rendezvous closes, on stores that are slow for some of them; logs with ties and ended ones;
every way in which tensors can differ; failed saves of every rank, old files in the way; folders
with all that is no checkpoint; more and fewer ranks than have saved.

What happens in a case is fixed, and to whom the secret decides: which ranks are absent, how workers
and steps are called, in which order situations come.
"""

from string import ascii_lowercase
from typing import Any

from distlab.course.lab09_when_it_breaks.same_everywhere import DIFFERENT, EQUAL
from distlab.exercises.exercise import Case
from grader.cases import Chance, Drawn, like

HASH, TCP, SLOW = "HashStore", "TCPStore", "slow HashStore"
PREFIXED_HASH, PREFIXED_TCP = f"PrefixStore over {HASH}", f"PrefixStore over {TCP}"


def _roll_calls(
    size: int, seed: int, store: str, seconds: float, *calls: list[float | None]
) -> Drawn:
    """Roll calls at these moments, each of which some rank has."""
    return Drawn(size, seed, lambda chance: {
        "store": store, "seconds": seconds, "calls": [chance.order(moments) for moments in calls],
    })  # fmt: skip


def _situations(size: int, seed: int, *names: str, **params: Any) -> Drawn:
    """These situations and two others, in some order."""

    def drawn(chance: Chance) -> dict:
        others = chance.order(EQUAL if size == 1 else EQUAL + DIFFERENT)[:2]
        return {"situations": chance.order([*names, *others]), **params}

    return Drawn(size, seed, drawn)


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
    """Names with a comma and with more than ASCII in them; another one comes late."""
    odd = [f"rack {chance.whole(2, 9)}, gpu {chance.whole(0, 7)}", f"Ä{chance.whole(1, 99)}"]
    plain = chance.order([f"{letter}{chance.whole(1, 99)}" for letter in "ab"])
    nodes = [*sorted([*odd, plain[0]], reverse=True), plain[1]]
    rounds = [chance.whole(1, 10**6), [0.0, 0.1, 0.5, 1.5]]
    return _rendezvous(chance, nodes, rounds, store=TCP, seconds=0.8)


def _three_generations(chance: Chance) -> dict:
    first, second = chance.rising(2, 1, 10**6)
    rounds = [[first, [0.0, 1.0]], [second, [0.0, 0.1]], [0, [None, 0.0]]]
    return _rendezvous(chance, _names(chance, 2), *rounds, store=HASH, seconds=0.5)


def _own_clocks(chance: Chance) -> dict:
    rounds = [chance.whole(1, 10**6), [0.0, 0.2, 1.2]]
    return _rendezvous(chance, _names(chance, 3), rounds, store=TCP, seconds=0.6, clocks="differ")


def _at_the_end(chance: Chance) -> dict:
    rounds = [chance.whole(1, 10**6), [0.0, 0.49, 0.5, 0.51]]
    return _rendezvous(chance, _names(chance, 4), rounds, store=HASH, seconds=0.5)


def _crowd(seed: int, workers: int, **params: Any) -> Drawn:
    """Many workers on a slow store, told of by one rank."""

    def drawn(chance: Chance) -> dict:
        nodes = [f"node {number}" for number in chance.rising(workers, 100, 999)]
        return {"store": SLOW, "workers": workers, "nodes": nodes[::-1], **params}

    return Drawn(1, seed, drawn)


def _steps(seed: int, *flaws: str) -> Drawn:
    """Steps of which these things are wrong, the first with the lowest number."""
    return Drawn(1, seed, lambda chance: {"steps": [
        [step, flaw] for step, flaw in zip(chance.rising(len(flaws), 2, 99), flaws, strict=True)
    ]})  # fmt: skip


def _steps_as_texts(chance: Chance) -> dict:
    """Numbers that come in another order as texts."""
    steps = chance.whole(90, 99), chance.whole(100, 109), chance.whole(1000, 1099)
    return {"steps": [*zip(steps, ("whole", "whole", "another length"), strict=True)]}


def _index_of_another(chance: Chance) -> dict:
    """The index is that of step 1, which is whole."""
    return {"steps": [[1, "whole"], [chance.whole(2, 99), "the index of another step"]]}


HIDDEN = {
    "roll_call": (
        _roll_calls(4, 101, TCP, 0.6, [None, 0.0, None, 0.3]),
        _roll_calls(4, 102, HASH, 0.5, [0.0, None, None, 1.0]),
        Case(1, 103, {"store": TCP, "seconds": 0.3, "calls": [[0.0]]}),
        _roll_calls(5, 104, PREFIXED_TCP, 2.0, [0.05, 0.0, 0.02, 0.1, 0.08]),
        _roll_calls(3, 105, HASH, 0.4, [0.0, 0.1, 0.2], [None, 0.0, 0.1], [0.1, None, None]),
        _roll_calls(2, 106, PREFIXED_HASH, 0.3, [0.9, 0.0]),
    ),
    "first_divergence": (
        *(Case(1, seed, {"ranks": ranks}) for seed, ranks in
          ((101, 2), (102, 3), (103, 4), (104, 5), (105, 8), (106, 6))),
        Case(1, 107, {"ranks": 1, "times": 8}),
        Case(1, 108, {"ranks": 64, "times": 10}),
    ),
    "same_everywhere": (
        _situations(1, 101, "equal", "nothing anywhere"),
        _situations(4, 102, "equal", "equal, empty ones among them", "two and two"),
        _situations(3, 103, "more and less", "last bit", "swapped tensors", odd=1),
        _situations(5, 104, "another NaN", "dtype", "dtype of one width", odd=0),
        _situations(2, 105, "empty shape", "scalar or not", "cut elsewhere"),
        _situations(3, 106, "nothing on one rank", "one more, empty", odd=0),
        _situations(2, 107, "equal, one requires a gradient", "equal, in other strides", odd=0),
        _situations(4, 108, "last of many", odd=2),
        _situations(2, 109, "nothing anywhere", "more and less", "one more"),
        _situations(4, 110, "equal, with NaN", "minus zero", "shape", odd=1),
    ),
    "rendezvous": (
        Drawn(4, 101, _odd_names),
        _crowd(102, 21, seconds=0.6, crowd="at the end"),
        _crowd(106, 8, seconds=2.0, slowness=0.1, crowd="at the beginning"),
        Drawn(2, 103, _three_generations),
        Drawn(3, 104, _own_clocks),
        Drawn(4, 105, _at_the_end),
    ),
    "save_sharded": (
        Case(1, 101, {"lengths": [6], "left": "halves"}),
        Case(4, 102, {"lengths": [3, 0, 0, 9], "view": True, "step": 0}),
        Case(2, 103, {"lengths": [40_000, 40_000], "fails": 0}),
        Case(3, 105, {"lengths": [50, 60, 70], "left": "whole files", "step": 120}),
        Case(3, 106, {"lengths": [40_000, 40_000, 40_000], "fails": 1, "view": True}),
        Case(5, 109, {"lengths": [0, 8, 1, 2, 4], "left": "a folder"}),
        Case(1, 110, {"lengths": [40_000], "fails": 0, "step": 1000}),
    ),
    "latest_whole": (
        Drawn(1, 101, _steps_as_texts),
        _steps(102, "whole", "whole", "a file that runs code"),
        _steps(103, "whole", "an index that is a list", "an index that is no JSON",
               "an index without lengths", "an index that is no text",
               "an index with a number for the lengths"),
        Drawn(1, 104, _index_of_another),
        _steps(105, "whole", "step-007", "step-7.tmp", "step-+7", "step-7_0", "Step-7",
               "step-7 and a space", "old-step-7", "step-²", "step-٣"),
        Case(1, 106, {"steps": []}),
        Case(1, 107, {"steps": [[0, "whole"]]}),
        _steps(108, "whole", "a folder in place of a file", "a file for a folder",
               "a file of text", "a file without a tensor"),
        _steps(109, "whole", "more files than ranks"),
        _steps(110, "a file is missing", "a truncated file"),
        _steps(111, "step-7.tmp", "step-007"),
    ),
    "load_resharded": (
        Case(3, 101, {"lengths": [5, 4, 4, 4]}),
        Case(5, 102, {"lengths": [4, 3, 4]}),
        Case(4, 103, {"lengths": [2, 0, 0, 1]}),
        Case(1, 104, {"lengths": [3, 7, 0, 2, 5]}),
        Case(2, 105, {"lengths": [0, 0]}),
        Case(3, 106, {"lengths": [1000, 1, 30_000]}),
        Case(2, 107, {"lengths": [4, 4], "there": "no step"}),
        Case(3, 108, {"lengths": [4, 4], "there": "no folder"}),
        Case(3, 109, {"lengths": [4, 4], "there": "no index"}),
        Case(4, 110, {"lengths": [2, 2, 2, 2]}),
        Case(5, 111, {"lengths": [1, 1, 1, 1, 1, 1, 1, 0, 0, 4]}),
    ),
    "remaining": (
        Case(2, 101, {"n": 31, "epoch": 2, "done": 9}),
        Case(2, 102, {"n": 31, "epoch": 2, "done": 9}),  # another seed, nothing else
        Case(3, 103, {"n": 17, "epoch": 0, "done": 0}),
        Case(5, 104, {"n": 40, "epoch": 11, "done": 38}),
        Case(1, 105, {"n": 25, "epoch": 1, "done": 24}),
        Case(4, 106, {"n": 1, "epoch": 5, "done": 0}),
        Case(2, 107, {"n": 0, "epoch": 5, "done": 0}),
        Case(4, 108, {"n": 2003, "epoch": 4, "done": 1001}),
    ),
    "checkpoint_interval": (
        like(101, cost=0.5, mtbf=10_800.0),
        like(102, cost=300, mtbf=3600),
        like(103, cost=7.25, mtbf=1.0),
        like(104, cost=1e-3, mtbf=1e7),
    ),
    "expected_overhead": (
        like(101, interval=1.5, cost=0.5, mtbf=10_800.0),
        like(102, interval=7200, cost=300, mtbf=3600),
        like(103, interval=3.0, cost=7.25, mtbf=11.0),
        like(104, interval=1e5, cost=1e-3, mtbf=1e7),
    ),
}  # fmt: skip
