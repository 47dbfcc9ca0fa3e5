def expected_overhead(interval, cost, mtbf):
    return sum((cost * interval**-1, interval * (2 * mtbf) ** -1))
