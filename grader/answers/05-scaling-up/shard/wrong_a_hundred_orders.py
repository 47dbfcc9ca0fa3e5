# hint: order comes back
def shard(n, rank, size, epoch, seed):
    order = np.random.default_rng((seed, epoch % 100)).permutation(n)
    return order[rank::size].tolist()
