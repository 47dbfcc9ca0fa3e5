# hint: time for each rank
def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}/{rank}", "x")
    end = time.monotonic() + seconds
    absent = set(range(size)) - {rank}
    while absent and time.monotonic() < end:
        for r in list(absent):
            if store.check([f"{name}/{r}"]):
                absent.remove(r)
                end = time.monotonic() + seconds
        time.sleep(0.01)
    return sorted(absent)
