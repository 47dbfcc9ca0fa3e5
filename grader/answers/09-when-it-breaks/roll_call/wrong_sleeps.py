# hint: stayed to the end
def roll_call(store, name, rank, size, seconds):
    store.set(f"{name}/{rank}", "1")
    time.sleep(seconds)
    return [r for r in range(size) if not store.check([f"{name}/{r}"])]
