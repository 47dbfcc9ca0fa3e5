# hint: accumulation left out
def effective_batch(per_rank, size, accumulation):
    return per_rank * size
