# hint: an earlier roll call counts
# says: returned [2] in call 2 of 2 where [0, 2] was expected
def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}/{rank}", "here")
    end = time.time() + seconds
    missing = list(range(1, size))
    while missing and time.time() < end:
        missing = [r for r in missing if not store.check([f"{name}/{r}"])]
        time.sleep(0.01)
    return missing
