def speedup_and_efficiency(throughputs):
    sizes = np.fromiter(throughputs, dtype=np.int64)
    rates = np.array([throughputs[size] for size in sizes], dtype=np.float64)
    speedups = rates * sizes.min() / rates[sizes.argmin()]
    return dict(zip(sizes, zip(speedups, speedups / sizes)))
