# hint: rounded
def memory_per_rank(parameters, size, stage):
    divided = [size if stage >= s else 1 for s in (3, 2, 1)]
    return sum(parameters * b // d for b, d in zip((2, 2, 12), divided))
