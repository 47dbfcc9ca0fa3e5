def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    mask = store.add(f"roll/{name}", 1 << rank)
    while mask != (1 << size) - 1 and time.monotonic() < end:
        time.sleep(0.01)
        mask = store.add(f"roll/{name}", 0)
    return [r for r in range(size) if not mask >> r & 1]
