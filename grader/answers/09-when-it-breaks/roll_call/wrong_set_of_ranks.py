# hint: no list of ints
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "1")
    while True:
        absent = {r for r in range(size) if not store.check([f"{name}/{r}"])}
        if not absent or time.monotonic() > end:
            return absent
        time.sleep(0.02)
