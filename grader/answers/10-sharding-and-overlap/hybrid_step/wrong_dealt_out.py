# hint: dealt out
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    for replica in range(replicas):
        members = list(range(replica * shards, (replica + 1) * shards))
        group = dist.new_group(members)
        if rank in members:
            own_replica = group
    for place in range(shards):
        members = list(range(place, size, shards))
        group = dist.new_group(members)
        if rank in members:
            same_place = group
    length = len(gradient) // shards
    piece = gradient.new_empty(length)
    parts = [gradient[i::shards].clone() for i in range(shards)]
    dist.reduce_scatter(piece, parts, group=own_replica)
    dist.all_reduce(piece, group=same_place)
    return piece / size
