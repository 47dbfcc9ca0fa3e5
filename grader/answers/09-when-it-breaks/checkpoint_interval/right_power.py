def checkpoint_interval(cost, mtbf):
    return (2 * cost * mtbf) ** 0.5
