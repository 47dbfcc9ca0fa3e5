# hint: added up
def effective_batch(per_rank, size, accumulation):
    return per_rank * (size + accumulation)
