# hint: no reduce-scatter
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    groups = [dist.new_group(list(range(place, size, shards))) for place in range(shards)]
    piece = gradient.chunk(shards)[rank % shards].clone()
    dist.all_reduce(piece, group=groups[rank % shards])
    return piece / size
