# hint: other groups
def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    dist.all_reduce(gradient)
    length = len(gradient) // shards
    place = rank % shards
    return gradient[place * length : (place + 1) * length] / size
