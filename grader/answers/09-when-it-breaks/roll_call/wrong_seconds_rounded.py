# hint: did not wait
# says: round makes 0
def roll_call(store, name, rank, size, seconds):
    deadline = time.monotonic() + round(seconds)
    keys = [f"{name}/{r}" for r in range(size)]
    store.set(keys[rank], "here")
    while True:
        absent = [r for r in range(size) if not store.check([keys[r]])]
        left = deadline - time.monotonic()
        if not absent or left <= 0:
            return absent
        time.sleep(min(0.02, left))
