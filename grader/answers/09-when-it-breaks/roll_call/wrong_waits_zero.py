# hint: never returned
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "1")
    absent = []
    for other in range(size):
        left = max(end - time.monotonic(), 0)
        try:
            store.wait([f"{name}/{other}"], timedelta(seconds=left))
        except RuntimeError:
            absent.append(other)
    return absent
