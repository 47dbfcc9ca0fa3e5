def rendezvous(store, generation, node, seconds):
    begin = time.time()
    prefix = str(generation) + "|"
    number = store.add(prefix + "n", 1)
    if number < 1:
        return None
    store.set(prefix + str(number), node)
    if number == 1:
        while time.time() - begin < seconds:
            time.sleep(0.01)
        total = store.add(prefix + "n", -(10**9)) + 10**9
        store.set(prefix + "size", str(total))
    while not store.check([prefix + "size"]):
        time.sleep(0.05)
    total = int(store.get(prefix + "size"))
    others = [store.get(prefix + str(i)).decode() for i in range(1, total + 1)]
    return sum(name < node for name in others), total
