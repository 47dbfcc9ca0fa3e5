# hint: not all
def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}/{rank}", "here")
    end = time.monotonic() + seconds
    for r in range(size):
        while not store.check([f"{name}/{r}"]):
            if time.monotonic() > end:
                return [r]
            time.sleep(0.01)
    return []
