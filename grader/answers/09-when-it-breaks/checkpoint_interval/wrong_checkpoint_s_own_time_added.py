# hint: Daly's
def checkpoint_interval(cost, mtbf):
    return math.sqrt(2 * cost * (mtbf + cost))
