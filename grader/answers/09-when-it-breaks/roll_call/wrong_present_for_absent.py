# hint: itself
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "1")
    while time.monotonic() < end:
        present = [r for r in range(size) if store.check([f"{name}/{r}"])]
        if len(present) == size:
            return []
        time.sleep(0.02)
    return present
