def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    count = store.add(name, 1)
    while count < size and time.monotonic() < end:
        time.sleep(0.02)
        count = store.add(name, 0)
    return list(range(count, size))
