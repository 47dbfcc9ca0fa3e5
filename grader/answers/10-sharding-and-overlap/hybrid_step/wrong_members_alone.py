# status: deadlock
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    first = rank // shards * shards
    replica = dist.new_group(list(range(first, first + shards)))
    others = dist.new_group(list(range(rank % shards, size, shards)))
    piece = gradient.new_empty(len(gradient) // shards)
    dist.reduce_scatter(piece, list(gradient.chunk(shards)), group=replica)
    dist.all_reduce(piece, group=others)
    return piece / size
