# hint: no pairs
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {s: t * b / throughputs[b] for s, t in throughputs.items()}
