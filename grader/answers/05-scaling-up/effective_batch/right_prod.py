import math


def effective_batch(per_rank, size, accumulation):
    return math.prod([per_rank, size, accumulation])
