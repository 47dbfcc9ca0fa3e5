# hint: swapped
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        s: (t * b / throughputs[b] / s, t * b / throughputs[b]) for s, t in throughputs.items()
    }
