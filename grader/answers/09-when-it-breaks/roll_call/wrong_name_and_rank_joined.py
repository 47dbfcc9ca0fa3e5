# status: error
# says: Put something between name and rank


def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}{rank}", "here")
    store.add(name, 1)
    end = time.monotonic() + seconds
    while store.add(name, 0) < size and time.monotonic() < end:
        time.sleep(0.02)
    return [other for other in range(size) if not store.check([f"{name}{other}"])]
