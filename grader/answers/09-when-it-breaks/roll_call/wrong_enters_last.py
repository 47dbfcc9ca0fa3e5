# hint: stayed to the end
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    absent = list(range(size))
    while absent and time.monotonic() < end:
        time.sleep(0.02)
        absent = [r for r in absent if not store.check([f"{name}/{r}"])]
        if time.monotonic() > end - 0.01 or absent == [rank]:
            store.set(f"{name}/{rank}", "1")
    return absent
