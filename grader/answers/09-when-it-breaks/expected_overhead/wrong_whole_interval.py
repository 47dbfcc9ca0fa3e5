# hint: whole interval lost
def expected_overhead(interval, cost, mtbf):
    return cost / interval + interval / mtbf
