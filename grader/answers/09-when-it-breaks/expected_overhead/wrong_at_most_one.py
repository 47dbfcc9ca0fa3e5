# hint: cut off at 1
def expected_overhead(interval, cost, mtbf):
    return min(1.0, cost / interval + interval / (2 * mtbf))
