def rendezvous(store, generation, node, seconds):
    """Who adds to the counter before the door has a number is in."""
    deadline = time.monotonic() + seconds
    key = f"meet/{generation}/"
    if store.check([key + "list"]):
        return None
    place = store.add(key + "count", 1)
    if place >= 1 << 30:
        return None
    store.set(key + f"{place}", node)
    if place == 1:
        time.sleep(max(0.0, deadline - time.monotonic()))
        count = store.add(key + "count", 1 << 30) - (1 << 30)
        members = []
        for i in range(1, count + 1):
            members.append(store.get(key + f"{i}").decode("utf-8"))
        store.set(key + "list", json.dumps(members))
    members = sorted(json.loads(store.get(key + "list")))
    return members.index(node), len(members)
