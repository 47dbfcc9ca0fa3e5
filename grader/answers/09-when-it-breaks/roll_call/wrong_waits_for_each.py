# hint: time for each rank
def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}/{rank}", "1")
    absent = []
    for other in range(size):
        try:
            store.wait([f"{name}/{other}"], timedelta(seconds=seconds))
        except RuntimeError:
            absent.append(other)
    return absent
