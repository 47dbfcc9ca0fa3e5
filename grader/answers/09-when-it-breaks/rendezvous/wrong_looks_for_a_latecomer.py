# status: error
# hint: not on the list
# says: on none, and returns None
def rendezvous(store, generation, node, seconds):
    p = f"{generation}/"
    n = store.add(p + "n", 1)
    store.set(p + f"name{n}", node)
    if n == 1:
        time.sleep(seconds)
        store.set(p + "size", str(store.add(p + "n", 10000) - 10000))
    size = int(store.get(p + "size"))
    names = sorted(store.get(p + f"name{i}").decode() for i in range(1, size + 1))
    return names.index(node), size
