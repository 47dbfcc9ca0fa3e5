# hint: no pairs
def speedup_and_efficiency(throughputs):
    base = min(throughputs)
    return {size: (rate * base / throughputs[base],) for size, rate in throughputs.items()}
