# hint: never returned
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "here")
    absent = []
    for other in range(size):
        if time.monotonic() > end or store.get(f"{name}/{other}") != b"here":
            absent.append(other)
    return absent
