# hint: members disagree
def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    if store.check([f"{key}/closed"]):
        return None
    place = store.add(f"{key}/count", 1)
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        time.sleep(seconds)
        store.set(f"{key}/closed", "1")
    store.get(f"{key}/closed")
    count = store.add(f"{key}/count", 0)
    names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
    return names.index(node), count
