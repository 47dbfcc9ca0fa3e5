# hint: everything divided
def memory_per_rank(parameters, size, stage):
    return 16 * parameters / (size if stage else 1)
