# hint: nothing divided
def memory_per_rank(parameters, size, stage):
    return 16 * parameters
