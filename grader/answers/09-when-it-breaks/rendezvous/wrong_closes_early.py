# hint: closed early
def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    if place > 1000:
        return None
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        quiet, seen = 0, 1
        while quiet < 5:
            time.sleep(seconds / 50)
            now = store.add(f"{key}/count", 0)
            quiet, seen = (quiet + 1, seen) if now == seen else (0, now)
        count = store.add(f"{key}/count", 1000) - 1000
        names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
        store.set(f"{key}/members", json.dumps(names))
    members = json.loads(store.get(f"{key}/members"))
    return members.index(node), len(members)
