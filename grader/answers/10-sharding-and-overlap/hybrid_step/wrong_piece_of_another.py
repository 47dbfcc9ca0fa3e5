# hint: another piece
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    within = [dist.new_group(list(range(r * shards, (r + 1) * shards))) for r in range(replicas)]
    between = [dist.new_group(list(range(place, size, shards))) for place in range(shards)]
    parts = list(gradient.chunk(shards))
    mine = torch.empty_like(parts[0])
    dist.reduce_scatter(mine, parts[1:] + parts[:1], group=within[rank // shards])
    dist.all_reduce(mine, group=between[rank % shards])
    return mine / size
