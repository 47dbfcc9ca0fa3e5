# status: error
# says: 1 need not be among them
def speedup_and_efficiency(throughputs):
    return {s: (t / throughputs[1], t / throughputs[1] / s) for s, t in throughputs.items()}
