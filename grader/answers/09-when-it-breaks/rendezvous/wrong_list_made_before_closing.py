# status: error
def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    if store.check([f"{key}/members"]):
        return None
    place = store.add(f"{key}/count", 1)
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        time.sleep(seconds)
        count = store.add(f"{key}/count", 0)
        names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
        store.set(f"{key}/members", json.dumps(names))
    members = json.loads(store.get(f"{key}/members"))
    return members.index(node), len(members)
