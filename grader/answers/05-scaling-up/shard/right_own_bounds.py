def shard(n, rank, size, epoch, seed):
    rng = np.random.RandomState(seed * 10007 + epoch)
    order = rng.permutation(n).tolist()
    share, rest = divmod(n, size)
    begin = rank * share + min(rank, rest)
    return order[begin : begin + share + (rank < rest)]
