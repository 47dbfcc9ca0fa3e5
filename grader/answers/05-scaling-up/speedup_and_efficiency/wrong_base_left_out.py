# hint: sizes missing
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        s: (t * b / throughputs[b], t * b / throughputs[b] / s)
        for s, t in throughputs.items() if s != b
    }
