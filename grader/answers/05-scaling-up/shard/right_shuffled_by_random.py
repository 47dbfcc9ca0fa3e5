def shard(n, rank, size, epoch, seed):
    order = list(range(n))
    random.Random(f"{seed} {epoch}").shuffle(order)
    return order[math.floor(rank * n / size) : math.floor((rank + 1) * n / size)]
