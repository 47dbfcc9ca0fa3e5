# hint: each by its own time
def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    store.set(f"{key}/name/{place}", node)
    time.sleep(seconds)
    count = store.add(f"{key}/count", 0)
    names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
    return names.index(node), count
