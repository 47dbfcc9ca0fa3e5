# hint: failures alone
def expected_overhead(interval, cost, mtbf):
    return interval / (2 * mtbf)
