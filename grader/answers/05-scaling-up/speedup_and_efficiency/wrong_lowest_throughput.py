# hint: slowest taken for smallest
def speedup_and_efficiency(throughputs):
    one = min(throughputs.values()) / min(throughputs)
    return {size: (rate / one, rate / one / size) for size, rate in throughputs.items()}
