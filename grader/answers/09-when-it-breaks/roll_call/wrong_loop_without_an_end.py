# hint: never returned
# says: A loop that waits for all ranks needs an end
def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}{rank}", "here")
    while not all(store.check([f"{name}{r}"]) for r in range(size)):
        pass
    return []
