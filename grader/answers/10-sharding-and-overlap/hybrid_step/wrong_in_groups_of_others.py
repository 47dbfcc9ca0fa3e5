# status: deadlock
# says: a call in a group of others does nothing but warn
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    rows = [dist.new_group(list(range(r * shards, (r + 1) * shards))) for r in range(replicas)]
    cols = [dist.new_group(list(range(p, size, shards))) for p in range(shards)]
    piece = gradient.new_empty(len(gradient) // shards)
    dist.reduce_scatter(piece, list(gradient.tensor_split(shards)), group=rows[rank % replicas])
    dist.all_reduce(piece, group=cols[rank // replicas])
    return piece / size
