# hint: no note left
def roll_call(store, name, rank, size, seconds):
    end = time.time() + seconds
    while time.time() < end:
        missing = [r for r in range(size) if r != rank and not store.check([f"{name}/{r}"])]
        if not missing:
            return []
        time.sleep(0.01)
    return missing
