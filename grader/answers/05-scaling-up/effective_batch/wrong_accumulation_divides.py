# hint: accumulation divided
def effective_batch(per_rank, size, accumulation):
    return per_rank * size // accumulation
