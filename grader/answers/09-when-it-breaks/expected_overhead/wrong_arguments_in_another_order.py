# says: returned
def expected_overhead(cost, interval, mtbf):
    return cost / interval + interval / (2 * mtbf)
