# hint: rounded
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        s: (round(t * b / throughputs[b], 2), round(t * b / throughputs[b] / s, 2))
        for s, t in throughputs.items()
    }
