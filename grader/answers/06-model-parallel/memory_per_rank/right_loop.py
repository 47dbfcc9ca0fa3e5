def memory_per_rank(parameters, size, stage):
    total = 0.0
    for needed, kind in ((1, "optimizer"), (2, "gradients"), (3, "parameters")):
        each = 12 if kind == "optimizer" else 2
        total += parameters * each / (size if stage >= needed else 1)
    return total
