def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    old = ""
    while (now := store.compare_set(name, old, f"{old} {rank}").decode()) != f"{old} {rank}":
        old = now
    while True:
        there = {int(one) for one in store.get(name).split()}
        if len(there) == size or time.monotonic() >= end:
            return sorted(set(range(size)) - there)
        time.sleep(0.05)
