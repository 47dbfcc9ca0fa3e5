"""Hidden cases of `latest_whole`."""

from distlab.exercises.exercise import Case
from grader.cases import Chance, Drawn


def _steps(seed: int, *flaws: str) -> Drawn:
    """Steps of which these things are wrong, the first with the lowest number."""
    return Drawn(1, seed, lambda chance: {"steps": [
        [step, flaw] for step, flaw in zip(chance.rising(len(flaws), 2, 99), flaws, strict=True)
    ]})  # fmt: skip


def _steps_as_texts(chance: Chance) -> dict:
    """Numbers that come in another order as texts, and are too many to try all below them."""
    steps = chance.whole(90, 99), 10**9 + chance.whole(0, 99), 2 * 10**9 + chance.whole(0, 99)
    return {"steps": [*zip(steps, ("whole", "whole", "lengths swapped"), strict=True)]}


def _index_of_another(chance: Chance) -> dict:
    """The index is that of step 1, which is whole."""
    return {"steps": [[1, "whole"], [chance.whole(2, 99), "the index of another step"]]}


HIDDEN = (
    Drawn(1, 101, _steps_as_texts),
    _steps(102, "whole", "whole", "a file that runs code"),
    _steps(
        103,
        "whole",
        "an index that is a list",
        "an index that is no JSON",
        "an index without lengths",
        "an index that is no text",
        "an index with a number for the lengths",
    ),
    Drawn(1, 104, _index_of_another),
    _steps(
        105,
        "whole",
        "step-007",
        "step-7.tmp",
        "step-+7",
        "step-7_0",
        "Step-7",
        "step-7 and a space",
        "old-step-7",
        "step-²",
        "step-٣",
    ),
    Case(1, 106, {"steps": []}),
    Case(1, 107, {"steps": [[0, "whole"]]}),
    _steps(
        108,
        "whole",
        "a folder in place of a file",
        "a file for a folder",
        "a file of text",
        "a file without a tensor",
    ),
    _steps(109, "whole", "more files than ranks"),
    _steps(110, "a file is missing", "a truncated file"),
    _steps(111, "step-7.tmp", "step-007"),
)
