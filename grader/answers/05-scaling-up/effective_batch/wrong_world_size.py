# status: error
def effective_batch(per_rank, size, accumulation):
    return per_rank * dist.get_world_size() * accumulation
