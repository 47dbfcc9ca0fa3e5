# status: error
# says: back is bytes
def rendezvous(store, generation, node, seconds):
    p = f"{generation}/"
    n = store.add(p + "n", 1)
    if n > 1000:
        return None
    store.set(p + f"name{n}", node)
    if n == 1:
        time.sleep(seconds)
        store.set(p + "size", str(store.add(p + "n", 1000) - 1000))
    size = int(store.get(p + "size"))
    names = sorted(store.get(p + f"name{i}") for i in range(1, size + 1))
    return names.index(node), size
