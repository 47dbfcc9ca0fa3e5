# hint: percent
def expected_overhead(interval, cost, mtbf):
    return 100 * (cost / interval + interval / (2 * mtbf))
