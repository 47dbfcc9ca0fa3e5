# hint: percent
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        s: (t * b / throughputs[b], 100 * t * b / throughputs[b] / s)
        for s, t in throughputs.items()
    }
