# hint: first taken for smallest
def speedup_and_efficiency(throughputs):
    b = list(throughputs)[0]
    return {
        s: (t * b / throughputs[b], t * b / throughputs[b] / s) for s, t in throughputs.items()
    }
