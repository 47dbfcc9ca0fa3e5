def effective_batch(per_rank, size, accumulation):
    images = 0
    for _ in range(accumulation):
        images += sum(per_rank for _ in range(size))
    return images
