def checkpoint_interval(cost, mtbf):
    return math.sqrt(2.0) * math.sqrt(cost) * math.sqrt(mtbf)
