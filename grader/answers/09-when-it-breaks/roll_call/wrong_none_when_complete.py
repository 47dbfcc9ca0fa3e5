# hint: no list of ints
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    keys = [f"{name}/{r}" for r in range(size)]
    store.set(keys[rank], "1")
    while time.monotonic() < end:
        if store.check(keys):
            return None
        time.sleep(0.02)
    return [r for r in range(size) if not store.check([keys[r]])]
