# hint: no pair
def rendezvous(store, generation, node, seconds):
    end = time.monotonic() + seconds
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    if place > 1000:
        return None
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        time.sleep(max(end - time.monotonic(), 0))
        count = store.add(f"{key}/count", 1000) - 1000
        names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
        store.set(f"{key}/members", json.dumps(names))
    return json.loads(store.get(f"{key}/members")).index(node)
