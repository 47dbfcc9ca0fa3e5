# hint: without the 2
def checkpoint_interval(cost, mtbf):
    return math.sqrt(cost * mtbf / 2)
