# hint: another order
import random


def remaining(n, epoch, seed, done, rank, size):
    order = list(range(n))
    random.Random(seed + epoch).shuffle(order)
    return order[done:][rank::size]
