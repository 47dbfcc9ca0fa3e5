# hint: clocks
def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    ends = store.compare_set(f"{key}/end", "", str(time.time() + seconds))
    left = float(ends) - time.time()
    if left <= 0:
        return None
    place = store.add(f"{key}/count", 1)
    store.set(f"{key}/name/{place}", node)
    time.sleep(left)
    count = store.add(f"{key}/count", 0)
    names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
    return names.index(node), count
