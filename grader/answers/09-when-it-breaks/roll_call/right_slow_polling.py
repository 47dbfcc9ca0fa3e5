def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}/{rank}", "1")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if store.check([f"{name}/{r}" for r in range(size)]):
            return []
        time.sleep(min(0.3, max(end - time.monotonic(), 0)))
    return [r for r in range(size) if not store.check([f"{name}/{r}"])]
