def shard(n, rank, size, epoch, seed):
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return [int(i) for i in order[rank::size]]
