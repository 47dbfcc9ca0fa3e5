def perfect(throughputs, size):
    base, rate = min(throughputs.items())
    return rate / base * size


def speedup_and_efficiency(throughputs):
    result = {}
    for size, rate in sorted(throughputs.items()):
        efficiency = rate / perfect(throughputs, size)
        result[size] = [efficiency * size, efficiency]
    return result
