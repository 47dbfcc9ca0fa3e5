def expected_overhead(interval, cost, mtbf):
    return interval / mtbf / 2 + cost / interval
