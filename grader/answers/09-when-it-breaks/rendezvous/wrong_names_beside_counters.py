# status: wrong or error
def rendezvous(store, generation, node, seconds):
    prefix, closed = f"{generation}/", 10**6
    number = store.add(prefix + "count", 1)
    if number > closed:
        return None
    store.append(prefix + "names", node + "\n")
    store.set(prefix + node, "here")
    if number == 1:
        time.sleep(seconds)
        store.set(prefix + "size", str(store.add(prefix + "count", closed) - closed))
    size = int(store.get(prefix + "size"))
    while len(names := store.get(prefix + "names").decode().split("\n")) <= size:
        time.sleep(0.01)
    return sorted(names[:-1]).index(node), size
