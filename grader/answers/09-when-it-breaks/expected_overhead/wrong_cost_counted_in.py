# hint: share of another whole
def expected_overhead(interval, cost, mtbf):
    return cost / (interval + cost) + interval / (2 * mtbf)
