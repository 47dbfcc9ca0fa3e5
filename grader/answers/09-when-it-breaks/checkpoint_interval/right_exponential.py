def checkpoint_interval(cost, mtbf):
    return math.exp((math.log(2) + math.log(cost) + math.log(mtbf)) / 2)
