effective_batch = lambda per_rank, size, accumulation: per_rank * size * accumulation
