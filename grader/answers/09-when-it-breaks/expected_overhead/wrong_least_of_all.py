# hint: best interval
def expected_overhead(interval, cost, mtbf):
    return math.sqrt(2 * cost / mtbf)
