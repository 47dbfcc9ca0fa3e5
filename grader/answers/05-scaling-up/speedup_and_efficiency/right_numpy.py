def speedup_and_efficiency(throughputs):
    sizes = np.array(sorted(throughputs))
    rates = np.array([throughputs[s] for s in sizes.tolist()], dtype=float)
    speedups = rates * sizes[0] / rates[0]
    return {
        int(s): (float(u), float(e)) for s, u, e in zip(sizes, speedups, speedups / sizes)
    }
