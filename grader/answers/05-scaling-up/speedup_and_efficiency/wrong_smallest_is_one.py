# hint: smallest taken for one
def speedup_and_efficiency(throughputs):
    base = throughputs[min(throughputs)]
    return {s: (t / base, t / base / s) for s, t in throughputs.items()}
