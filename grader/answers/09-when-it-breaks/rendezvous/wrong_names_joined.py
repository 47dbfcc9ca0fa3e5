# status: error
def rendezvous(store, generation, node, seconds):
    end = time.monotonic() + seconds
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    if place > 1000:
        return None
    store.append(f"{key}/names", f"{node},")
    store.add(f"{key}/entered", 1)
    if place == 1:
        time.sleep(max(end - time.monotonic(), 0))
        count = store.add(f"{key}/count", 1000) - 1000
        while store.add(f"{key}/entered", 0) < count:
            time.sleep(0.01)
        store.set(f"{key}/over", "")
    store.wait([f"{key}/over"])
    names = sorted(store.get(f"{key}/names").decode().rstrip(",").split(","))
    return names.index(node), len(names)
