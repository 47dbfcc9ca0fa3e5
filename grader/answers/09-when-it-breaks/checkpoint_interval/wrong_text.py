# hint: a tensor
def checkpoint_interval(cost, mtbf):
    return f"{math.sqrt(2 * cost * mtbf)}"
