# hint: nothing returned
def effective_batch(per_rank, size, accumulation):
    print(per_rank * size * accumulation)
