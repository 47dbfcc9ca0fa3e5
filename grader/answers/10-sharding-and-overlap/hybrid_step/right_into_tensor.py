def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    groups = [[r * shards + s for s in range(shards)] for r in range(replicas)]
    lines = [[r * shards + s for r in range(replicas)] for s in range(shards)]
    made = {tuple(ranks): dist.new_group(ranks) for ranks in groups + lines}
    piece = torch.empty(len(gradient) // shards, dtype=gradient.dtype)
    dist.reduce_scatter_tensor(piece, gradient, group=made[tuple(groups[rank // shards])])
    dist.all_reduce(piece, group=made[tuple(lines[rank % shards])])
    return piece.div_(size)
