# hint: upside down
def expected_overhead(interval, cost, mtbf):
    return interval / cost + interval / (2 * mtbf)
