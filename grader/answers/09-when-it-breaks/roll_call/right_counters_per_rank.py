def roll_call(store, name, rank, size, seconds):
    finish = time.perf_counter() + seconds
    store.add(f"{name}.{rank}", 1)
    missing = set(range(size)) - {rank}
    while missing:
        missing -= {r for r in missing if store.check([f"{name}.{r}"])}
        if time.perf_counter() >= finish:
            break
        if missing:
            time.sleep(0.01)
    return sorted(missing)
