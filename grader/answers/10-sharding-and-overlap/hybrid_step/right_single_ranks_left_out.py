def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    piece = gradient / size
    if shards > 1:
        for r in range(replicas):
            group = dist.new_group(range(r * shards, (r + 1) * shards))
            if r == rank // shards:
                mine = group
        out = piece.new_empty(len(piece) // shards)
        dist.reduce_scatter(out, list(piece.chunk(shards)), group=mine, async_op=True).wait()
        piece = out
    if replicas > 1:
        for s in range(shards):
            group = dist.new_group(range(s, size, shards))
            if s == rank % shards:
                mine = group
        dist.all_reduce(piece, group=mine, async_op=True).wait()
    return piece
