# hint: rounded
def checkpoint_interval(cost, mtbf):
    return math.isqrt(int(2 * cost * mtbf))
