def memory_per_rank(parameters, size, stage):
    if stage == 0:
        return 16 * parameters
    if stage == 1:
        return 4 * parameters + 12 * parameters / size
    if stage == 2:
        return 2 * parameters + 14 * parameters / size
    return 16 * parameters / size
