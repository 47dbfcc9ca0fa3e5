def memory_per_rank(parameters, size, stage):
    whole, divided = [(16, 0), (4, 12), (2, 14), (0, 16)][stage]
    return (whole + divided / size) * parameters
