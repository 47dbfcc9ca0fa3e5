def expected_overhead(interval, cost, mtbf):
    saving = cost / interval
    lost_work = 0.5 * interval
    failures_per_second = 1 / mtbf
    return saving + failures_per_second * lost_work
