# hint: cut off at perfect
def speedup_and_efficiency(throughputs):
    base = min(throughputs)
    found = {}
    for size, rate in throughputs.items():
        speedup = rate * base / throughputs[base]
        found[size] = (min(size, speedup), min(1.0, speedup / size))
    return found
