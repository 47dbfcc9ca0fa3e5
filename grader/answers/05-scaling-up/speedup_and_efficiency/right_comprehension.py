def speedup_and_efficiency(throughputs):
    b = min(throughputs.keys())
    return {s: (t * b / throughputs[b], (t / throughputs[b]) / (s / b)) for s, t in throughputs.items()}
