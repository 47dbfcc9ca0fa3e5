def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    first = rank - rank % shards
    within = dist.new_group(list(range(first, first + shards)), use_local_synchronization=True)
    between = dist.new_group(list(range(rank % shards, size, shards)),
                             use_local_synchronization=True)
    length = gradient.numel() // shards
    piece = torch.zeros(length, dtype=gradient.dtype)
    dist.reduce_scatter(piece, list(gradient.split(length)), group=within)
    dist.all_reduce(piece, group=between)
    return piece * (1 / size)
