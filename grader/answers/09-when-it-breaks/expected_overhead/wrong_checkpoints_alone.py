# hint: checkpoints alone
def expected_overhead(interval, cost, mtbf):
    return cost / interval
