# hint: latecomer waits
def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    store.set(f"{key}/name/{place}", node)
    time.sleep(seconds if place == 1 else 0)
    if place == 1:
        count = store.add(f"{key}/count", 1000) - 1000
        names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
        store.set(f"{key}/members", json.dumps(names))
    members = json.loads(store.get(f"{key}/members"))
    if node not in members:
        time.sleep(1.2)
        return None
    return members.index(node), len(members)
