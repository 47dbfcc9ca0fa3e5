def rendezvous(store, generation, node, seconds):
    """Whoever finds the door open by a get that soon gives up is counted by the next operation."""
    key = f"generation {generation}/"
    store.set_timeout(timedelta(seconds=0.1))
    try:
        store.get(key + "members")
        return None
    except RuntimeError:
        pass
    place = store.add(key + "places", 1)
    if place > 10**6:
        return None
    store.set(key + str(place), node)
    if place == 1:
        time.sleep(max(0.0, seconds - 0.1))
        count = store.add(key + "places", 10**6) - 10**6
        names = [key + str(number) for number in range(1, count + 1)]
        store.wait(names, timedelta(seconds=30))
        store.set(key + "members", json.dumps([store.get(name).decode() for name in names]))
    store.wait([key + "members"], timedelta(seconds=seconds + 30))
    members = sorted(json.loads(store.get(key + "members")))
    return members.index(node), len(members)
