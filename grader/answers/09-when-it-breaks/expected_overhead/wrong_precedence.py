# hint: two times outside
# says: returned
def expected_overhead(interval, cost, mtbf):
    return cost / interval + interval / 2 * mtbf
