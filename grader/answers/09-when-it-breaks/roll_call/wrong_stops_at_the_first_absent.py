# hint: not looked at
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "1")
    for other in range(size):
        while not store.check([f"{name}/{other}"]):
            if time.monotonic() > end:
                return list(range(other, size))
            time.sleep(0.01)
    return []
