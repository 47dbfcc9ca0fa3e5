def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"roll-call/{name}/{rank}", "1")
    absent = []
    for other in range(size):
        key = f"roll-call/{name}/{other}"
        left = end - time.monotonic()
        if left > 0.002:
            try:
                store.wait([key], timedelta(seconds=left))
            except RuntimeError:
                pass
        if not store.check([key]):
            absent.append(other)
    return absent
