# hint: an earlier roll call counts
def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    store.set(name + str(rank), "here")
    missing = set(range(size))
    while missing:
        last = time.monotonic() >= end
        missing = {r for r in missing if not store.check([name + str(r)])}
        if last:
            break
        time.sleep(0.01)
    return sorted(missing)
