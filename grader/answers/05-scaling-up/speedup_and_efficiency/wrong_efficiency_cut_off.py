# hint: cut off at perfect
def speedup_and_efficiency(throughputs):
    base = min(throughputs)
    speedups = {size: rate * base / throughputs[base] for size, rate in throughputs.items()}
    return {size: (speedup, min(1.0, speedup / size)) for size, speedup in speedups.items()}
