def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    for r in range(replicas):
        members = [r * shards + s for s in range(shards)]
        group = dist.new_group(members)
        if rank in members:
            replica = group
    for s in range(shards):
        members = [r * shards + s for r in range(replicas)]
        group = dist.new_group(members)
        if rank in members:
            others = group
    piece = gradient.new_empty(len(gradient) // shards)
    dist.reduce_scatter(piece, list(gradient.chunk(shards)), dist.ReduceOp.AVG, group=replica)
    dist.all_reduce(piece, dist.ReduceOp.AVG, group=others)
    return piece
