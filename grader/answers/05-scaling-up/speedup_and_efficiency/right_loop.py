def speedup_and_efficiency(throughputs):
    smallest = sorted(throughputs)[0]
    per_rank = throughputs[smallest] / smallest
    result = {}
    for size in throughputs:
        result[size] = (throughputs[size] / per_rank, throughputs[size] / per_rank / size)
    return result
