# hint: used before wait
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    rows = [dist.new_group(range(r * shards, (r + 1) * shards)) for r in range(replicas)]
    cols = [dist.new_group(range(s, size, shards)) for s in range(shards)]
    piece = gradient.new_empty(len(gradient) // shards)
    w = dist.reduce_scatter(piece, list(gradient.chunk(shards)), group=rows[rank // shards], async_op=True)
    dist.all_reduce(piece, group=cols[rank % shards])
    w.wait()
    return piece / size
