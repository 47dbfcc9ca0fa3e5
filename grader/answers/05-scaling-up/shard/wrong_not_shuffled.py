# hint: not shuffled
def shard(n, rank, size, epoch, seed):
    return list(range((rank + epoch) % size, n, size))
