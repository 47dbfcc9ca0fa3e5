# hint: rounded
def expected_overhead(interval, cost, mtbf):
    return cost // interval + interval // (2 * mtbf)
