# status: wrong
def memory_per_rank(parameters, size, stage):
    whole, divided = [(5, 0), (2, 3), (1, 4), (0, 5)][stage]
    return (whole + divided / size) * parameters
