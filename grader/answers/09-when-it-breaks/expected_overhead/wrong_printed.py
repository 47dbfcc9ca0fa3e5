# hint: a tensor
# says: not only a print
def expected_overhead(interval, cost, mtbf):
    print(cost / interval + interval / (2 * mtbf))
