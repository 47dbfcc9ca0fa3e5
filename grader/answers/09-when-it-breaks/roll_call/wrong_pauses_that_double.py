# hint: stayed to the end
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(f"{name}/{rank}", "here")
    pause = 0.01
    while time.monotonic() < end:
        if store.check([f"{name}/{r}" for r in range(size)]):
            return []
        time.sleep(pause)
        pause *= 2
    return [r for r in range(size) if not store.check([f"{name}/{r}"])]
