# hint: no list of ints
def shard(n, rank, size, epoch, seed):
    return list(np.random.default_rng([seed, epoch]).permutation(n)[rank::size])
