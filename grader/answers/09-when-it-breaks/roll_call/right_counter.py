def roll_call(store, name, rank, size, seconds):
    begin = time.time()
    mine = dist.PrefixStore(f"roll call {name}", store)
    mine.set(str(rank), "present")
    count = mine.add("count", 1)
    while count < size and time.time() - begin < seconds:
        time.sleep(0.05)
        count = mine.add("count", 0)
    return [r for r in range(size) if not mine.check([str(r)])]
