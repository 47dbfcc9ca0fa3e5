# hint: two doorkeepers
def rendezvous(store, generation, node, seconds):
    p = f"{generation}/"
    first = not store.check([p + "first"])
    if first:
        store.set(p + "first", node)
    n = store.add(p + "n", 1)
    if n > 10000:
        return None
    store.set(p + f"name{n}", node)
    if first:
        time.sleep(seconds)
        size = store.add(p + "n", 10000) - 10000
        store.set(p + "size", str(size))
    size = int(store.get(p + "size"))
    names = sorted(store.get(p + f"name{i}").decode() for i in range(1, size + 1))
    return names.index(node), size
