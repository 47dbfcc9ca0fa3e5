# hint: everything divided
def memory_per_rank(parameters, size, stage):
    return 16 * parameters / max(1, size * min(stage, 1))
