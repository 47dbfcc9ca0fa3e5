"""Attention over a sequence that is divided among ranks, for `ring_attention` and
`ulysses_attention`: inputs, the exact result, and the results of well-known mistakes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distlab.course.lab11_long_sequences_and_experts.returning import one
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Hint, Look

#: V that travelled as float16 is off by 1e-4. In float32 an lse of some hundreds would be, too:
#: `steep` cases are float64. Those have a d whose root is exact, in whatever type it is taken
TOLERANCE = Tolerance(rtol=3e-5, atol=3e-5, doubles=1e-9)
_FEW = 100_000  # the most scores that a hint computes again


def blocks(heads_first: bool):
    """q, k and v of each rank: (heads, n, d), or (n, heads, d).

    A case's `steep`: q and k times this, rounded, so that scores are large and yet exact.
    """

    def make(case: Case) -> list[dict]:
        heads, n, d = case.get("heads", 2), case.params["n"], case.params["d"]
        shape, dtype = (heads, n, d) if heads_first else (n, heads, d), case.get("dtype", "float32")
        inputs = []
        for rank in range(case.size):
            qkv = case.generator(rank).standard_normal((3, *shape))
            if steep := case.get("steep"):
                qkv[:2] = np.round(qkv[:2] * steep)
            q, k, v = qkv.astype(dtype)
            inputs.append({"q": q, "k": k, "v": v, "causal": case.get("causal", False)})
        return inputs

    return make


def whole(look: Look, name: str, heads_first: bool) -> np.ndarray:
    """All positions of all ranks, (heads, size·n, d), in float64."""
    parts = np.array(look.given(name), "float64")
    return np.concatenate(parts if heads_first else parts.swapaxes(1, 2), axis=1)


def attended(q, k, v, visible: np.ndarray, scale: float | None = None) -> np.ndarray:
    """softmax(q·kᵀ·scale)·v over the keys that each query sees, 0 where it sees none.

    Args:
        visible: (queries, keys).
        scale: 1/√d where it is left out.
    """
    scores = (q @ k.swapaxes(-1, -2)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = np.where(visible, scores, -np.inf)
    most = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(most), most, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return (weights / np.where(total > 0, total, 1)) @ v


def seen(look: Look, causal: bool | None = None) -> np.ndarray:
    """(size·n, size·n): does position i see position j?"""
    count = look.size * look.case.params["n"]
    causal = look.case.get("causal", False) if causal is None else causal
    return np.tri(count, dtype=bool) if causal else np.ones((count, count), bool)


def _of_rank(look: Look) -> np.ndarray:
    """The rank that owns each position, (size·n,)."""
    return np.repeat(np.arange(look.size), look.case.params["n"])


def own_block(look: Look) -> np.ndarray:
    owner = _of_rank(look)
    return seen(look) & (owner[:, None] == owner[None, :])


def every_block_alike(look: Look) -> np.ndarray:
    """The causal mask of a rank's own block, repeated on every block."""
    block = np.tri(look.case.params["n"], dtype=bool)
    return np.tile(block, (look.size, look.size))


def whole_blocks(look: Look) -> np.ndarray:
    """No mask within a rank's own block: each position sees all of it, and all blocks before it."""
    owner = _of_rank(look)
    return owner[:, None] >= owner[None, :]


def later_blocks_too(look: Look) -> np.ndarray:
    """The causal mask within a rank's own block alone: every other block is seen as a whole."""
    owner = _of_rank(look)
    return seen(look) | (owner[:, None] != owner[None, :])


def one_too_many(look: Look) -> np.ndarray:
    """Each position sees the one after it, too."""
    return np.tri(len(_of_rank(look)), k=1, dtype=bool)


def without(look: Look, distance: int) -> np.ndarray:
    """Everything but the block of the rank `distance` places before."""
    owner = _of_rank(look)
    return seen(look) & ((owner[:, None] - owner[None, :]) % look.size != distance % look.size)


Mistake = Callable[[Look, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def like(mistake: Mistake, heads_first: bool) -> Callable[[Look], bool]:
    """A hint's `shows`: did some rank return what this mistake makes of q, k, v, (heads, N, d)?"""

    def shows(look: Look) -> bool:
        n, heads = look.case.params["n"], look.case.get("heads", 2)
        if heads * (look.size * n) ** 2 > _FEW:
            return False
        everything = mistake(look, *(whole(look, name, heads_first) for name in "qkv"))
        found = []
        for rank, (want, got) in enumerate(look.pairs()):
            if one(got) is None or one(want) is None:
                return False
            part = everything[:, rank * n : (rank + 1) * n]
            part = part if heads_first else part.swapaxes(0, 1)
            if not look.same(want, got):
                found.append(look.same(part.astype(want.dtype), got))
        return bool(found) and all(found)

    return shows


def _each_block(look: Look) -> list[np.ndarray]:
    """What each position sees of each block."""
    return [seen(look) & (_of_rank(look) == block) for block in range(look.size)]


def _added(look: Look, q, k, v) -> np.ndarray:
    """The sum of the attentions over each block."""
    return sum(attended(q, k, v, visible) for visible in _each_block(look))


def _averaged(look: Look, q, k, v) -> np.ndarray:
    """Their mean, over the blocks that a position sees something of."""
    return _added(look, q, k, v) / sum(v.any(axis=1)[:, None] for v in _each_block(look))


def _wrong_scales(look: Look) -> list[float]:
    """None; by d; multiplied; and by the width of all heads together."""
    heads, d = look.case.get("heads", 2), look.case.params["d"]
    return [1.0, 1 / d, d**0.5, (heads * d) ** -0.5] if d > 1 else []


def hints_on_values(heads_first: bool) -> tuple[Hint, ...]:
    """What is wrong with an attention, told from its values."""

    def masked(
        visible: Callable[[Look], np.ndarray], causal: bool | None = None
    ) -> Callable[[Look], bool]:
        """Was it seen what `visible` says? Asked of all cases, or of those with this mask."""
        alike = like(lambda look, q, k, v: attended(q, k, v, visible(look)), heads_first)
        return lambda look: causal in (None, look.case.get("causal", False)) and alike(look)

    return (
        Hint(
            "not scaled",
            lambda look: any(
                like(lambda look, q, k, v, s=s: attended(q, k, v, seen(look), s), heads_first)(look)
                for s in _wrong_scales(look)
            ),
            "The scores are not divided by √d, d being the last dimension of q.",
        ),
        Hint(
            "causal ignored",
            masked(lambda look: seen(look, causal=False), causal=True),
            "With causal=True a position sees itself and those before it, and none after it. Here "
            "all see everything.",
        ),
        Hint(
            "always causal",
            masked(lambda look: seen(look, causal=True), causal=False),
            "With causal=False every position sees all others: the mask is only for causal=True.",
        ),
        Hint(
            "own position not seen",
            masked(lambda look: np.tri(len(seen(look)), k=-1, dtype=bool), causal=True),
            "A position sees itself too: i sees j where j ≤ i.",
        ),
        Hint(
            "mask the wrong way round",
            masked(lambda look: seen(look).T, causal=True),
            "Positions see what comes after them: the mask is the wrong way round.",
        ),
        Hint(
            "mask of the own block on every block",
            masked(every_block_alike, causal=True),
            "Every block got the mask of the diagonal. Positions count over all ranks: this rank's "
            "begin at rank·n, and those of a block at (the rank that it is from)·n.",
        ),
        Hint(
            "no mask on the own block",
            masked(whole_blocks, causal=True),
            "Which blocks a rank sees is right, and within its own block every position sees all "
            "others, also those after it.",
        ),
        Hint(
            "later blocks seen",
            masked(later_blocks_too, causal=True),
            "This rank's own block is masked as it should be, but those of ranks behind it are "
            "seen as well. All their positions come later: hide them whole, and only hand them on.",
        ),
        Hint(
            "one position too far",
            lambda look: (
                masked(one_too_many, causal=True)(look)
                or masked(lambda look: one_too_many(look) & whole_blocks(look), causal=True)(look)
            ),
            "Positions see the one right after them, too: i sees j where j ≤ i. (triu(1) is what "
            "is hidden, tril() what is seen.)",
        ),
        Hint(
            "own block alone",
            masked(own_block),
            "Each rank attended to its own positions alone: the keys of all ranks count.",
        ),
        Hint(
            "blocks averaged",
            lambda look: like(_averaged, heads_first)(look) or like(_added, heads_first)(look),
            "The results of the blocks were added up or averaged. A block counts by the sum of "
            "its exponentials: merge two results by their lse.",
        ),
        Hint(
            "a block missing",
            lambda look: (
                look.size > 1
                and any(masked(lambda look, k=k: without(look, k))(look) for k in range(look.size))
            ),
            "One block is missing on every rank. How many blocks does a rank see, its own "
            "included, and how many times does it have to receive?",
        ),
    )


LARGE_SCORES = Hint(
    "large scores",
    lambda look: (
        bool(look.case.get("steep")) and not all(map(look.same, look.wanted, look.returned))
    ),
    "Scores are in the hundreds and more here; cases with small ones came out right. Subtract "
    "each row's maximum before exp, and leave the differences as they are: cutting scores off at a "
    "bound (clamp), or taking them in a narrower type, changes the weights. What a row must not "
    "see is hidden by −inf: next to scores like these, −1e3 or −1e4 is a score like any other.",
)
