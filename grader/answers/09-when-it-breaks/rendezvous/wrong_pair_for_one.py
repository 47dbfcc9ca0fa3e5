# hint: one member alone
def rendezvous(store, generation, node, seconds):
    p = f"{generation}/"
    n = store.add(p + "n", 1)
    if n > 1000:
        return None
    store.set(p + f"name{n}", node)
    if n == 1:
        time.sleep(seconds)
        size = store.add(p + "n", 1000) - 1000
        names = sorted(store.get(p + f"name{i}").decode() for i in range(1, size + 1))
        return names.index(node), size
