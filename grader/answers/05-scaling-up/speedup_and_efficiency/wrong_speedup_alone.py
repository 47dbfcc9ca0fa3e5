# hint: no pairs
# says: where a tuple of 2 items was expected
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {s: t * b / throughputs[b] for s, t in throughputs.items()}
