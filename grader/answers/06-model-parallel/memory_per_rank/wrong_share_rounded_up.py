# hint: rounded
def memory_per_rank(parameters, size, stage):
    share = -(-parameters // size)
    divided = {0: 0, 1: 12, 2: 14, 3: 16}[stage]
    return (16 - divided) * parameters + divided * share
