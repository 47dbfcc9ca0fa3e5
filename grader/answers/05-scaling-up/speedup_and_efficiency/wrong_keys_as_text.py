# hint: keys changed
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        str(s): (t * b / throughputs[b], t * b / throughputs[b] / s)
        for s, t in throughputs.items()
    }
