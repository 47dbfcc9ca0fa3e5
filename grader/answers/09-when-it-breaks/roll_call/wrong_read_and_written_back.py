# says: loses what another has written meanwhile
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    if not store.check([name]):
        store.set(name, "")
    store.set(name, store.get(name).decode() + f" {rank}")
    while time.monotonic() < end:
        if len(store.get(name).split()) == size:
            return []
        time.sleep(0.02)
    there = store.get(name).decode().split()
    return [r for r in range(size) if str(r) not in there]
