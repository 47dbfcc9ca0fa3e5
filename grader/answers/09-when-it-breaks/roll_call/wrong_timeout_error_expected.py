# status: error
# says: DistStoreError
def roll_call(store, name, rank, size, seconds):
    keys = [f"{name}/{r}" for r in range(size)]
    store.set(keys[rank], "1")
    try:
        store.wait(keys, timedelta(seconds=seconds))
    except TimeoutError:
        return [r for r in range(size) if not store.check([keys[r]])]
    return []
