# hint: no pairs
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return [(t * b / throughputs[b], t * b / throughputs[b] / s) for s, t in throughputs.items()]
