# hint: slowest taken for smallest
def speedup_and_efficiency(throughputs):
    base = min(throughputs, key=throughputs.get)
    speedups = {s: t * base / throughputs[base] for s, t in throughputs.items()}
    return {s: (speedup, speedup / s) for s, speedup in speedups.items()}
