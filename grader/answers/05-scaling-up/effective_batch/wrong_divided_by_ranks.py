# hint: divided by ranks
def effective_batch(per_rank, size, accumulation):
    return per_rank * accumulation / size
