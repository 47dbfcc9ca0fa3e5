# hint: upside down
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        s: (throughputs[b] / t * b, throughputs[b] / t * b / s) for s, t in throughputs.items()
    }
