import random


def shard(n, rank, size, epoch, seed):
    def order(epoch):
        before = order(epoch - 1) if epoch else list(range(n))
        random.Random(seed * 1_000_003 + epoch).shuffle(before)
        return before

    return order(epoch)[rank::size]
