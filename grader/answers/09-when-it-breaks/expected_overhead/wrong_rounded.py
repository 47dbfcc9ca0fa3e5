# hint: rounded
def expected_overhead(interval, cost, mtbf):
    return round(cost / interval + interval / (2 * mtbf), 3)
