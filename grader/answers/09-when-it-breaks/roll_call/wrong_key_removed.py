# hint: had called before
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "1")
    while True:
        absent = [r for r in range(size) if not store.check([f"{name}/{r}"])]
        if not absent:
            return []
        if time.monotonic() > end:
            store.delete_key(f"{name}/{rank}")
            return absent
        time.sleep(0.02)
