# hint: another order
# says: N9 before n1
def rendezvous(store, generation, node, seconds):
    deadline = time.monotonic() + seconds
    key = f"rendezvous/{generation}"
    closing = 1_000_000
    place = store.add(f"{key}/count", 1)
    if place > closing:
        return None
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        time.sleep(max(deadline - time.monotonic(), 0))
        count = store.add(f"{key}/count", closing) - closing
        names = [f"{key}/name/{i}" for i in range(1, count + 1)]
        store.wait(names)
        store.set(f"{key}/members", json.dumps(sorted((store.get(n).decode() for n in names), key=str.casefold)))
    store.wait([f"{key}/members"], timedelta(seconds=seconds + 60))
    members = json.loads(store.get(f"{key}/members"))
    return members.index(node), len(members)
