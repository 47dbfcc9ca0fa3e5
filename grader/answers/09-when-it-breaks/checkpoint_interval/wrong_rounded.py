# hint: rounded
def checkpoint_interval(cost, mtbf):
    return round(math.sqrt(2 * cost * mtbf))
