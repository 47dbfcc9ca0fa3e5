# status: error
# hint: group of an earlier call
made = []


def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    if not made:
        for members in [[r * shards + s for s in range(shards)] for r in range(replicas)] + [
            [r * shards + s for r in range(replicas)] for s in range(shards)
        ]:
            group = dist.new_group(members)
            if rank in members:
                made.append(group)
    replica, others = made
    piece = gradient.new_empty(len(gradient) // shards)
    dist.reduce_scatter(piece, list(gradient.chunk(shards)), group=replica)
    dist.all_reduce(piece, group=others)
    return piece / size
