import functools
import hashlib
import random
from typing import NamedTuple


class Draw(NamedTuple):
    seed: int
    epoch: int


@functools.cache
def order(n: int, draw: Draw, generator: str = "sha256") -> tuple[int, ...]:
    salt = hashlib.new(generator, repr(draw).encode()).hexdigest()
    numbers = list(range(n))
    random.Random(f"{salt} {hash(tuple(draw))} {hash(n)}").shuffle(numbers)
    return tuple(numbers)


def shard(n, rank, size, epoch, seed):
    return list(order(n, Draw(seed, epoch))[rank::size])
