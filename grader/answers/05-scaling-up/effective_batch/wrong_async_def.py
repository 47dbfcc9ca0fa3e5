# hint: nothing computed yet
async def effective_batch(per_rank, size, accumulation):
    return per_rank * size * accumulation
