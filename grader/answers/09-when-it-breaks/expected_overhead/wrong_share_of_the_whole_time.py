# hint: share of another whole
def expected_overhead(interval, cost, mtbf):
    lost = cost / interval + interval / (2 * mtbf)
    return lost / (1 + lost)
