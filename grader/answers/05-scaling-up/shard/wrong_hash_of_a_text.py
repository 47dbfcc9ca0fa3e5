# hint: ranks disagree
import random


def shard(n, rank, size, epoch, seed):
    order = list(range(n))
    random.Random(hash(f"{seed}-{epoch}")).shuffle(order)
    return order[rank::size]
