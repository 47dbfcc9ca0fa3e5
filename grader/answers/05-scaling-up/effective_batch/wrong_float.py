# hint: no int
def effective_batch(per_rank, size, accumulation):
    return float(per_rank * size * accumulation)
