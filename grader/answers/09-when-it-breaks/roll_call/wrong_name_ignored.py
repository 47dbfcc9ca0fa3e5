# hint: an earlier roll call counts
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"rank/{rank}", name)
    while True:
        absent = [r for r in range(size) if not store.check([f"rank/{r}"])]
        if not absent or time.monotonic() > end:
            return absent
        time.sleep(0.02)
