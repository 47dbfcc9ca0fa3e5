import sys


def effective_batch(per_rank, size, accumulation):
    print("per rank", per_rank)
    print("warning: large", file=sys.stderr)
    return int(np.prod([per_rank, size, accumulation]))
