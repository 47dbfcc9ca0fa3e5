# hint: speed-up without base
def speedup_and_efficiency(throughputs):
    b = min(throughputs)
    return {
        s: (t / throughputs[b], t / throughputs[b] / (s / b)) for s, t in throughputs.items()
    }
