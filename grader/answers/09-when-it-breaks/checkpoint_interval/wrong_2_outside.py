# hint: 2 outside the root
def checkpoint_interval(cost, mtbf):
    return 2 * math.sqrt(cost * mtbf)
