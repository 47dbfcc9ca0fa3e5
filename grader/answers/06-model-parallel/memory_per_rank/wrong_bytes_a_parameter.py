# hint: another unit
# says: not the bytes a parameter
def memory_per_rank(parameters, size, stage):
    return [16, 4 + 12 / size, 2 + 14 / size, 16 / size][stage]
