def expected_overhead(interval, cost, mtbf):
    return (2 * mtbf * cost + interval * interval) / (2 * mtbf * interval)
