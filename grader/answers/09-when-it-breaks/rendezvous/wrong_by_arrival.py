# hint: by arrival
def rendezvous(store, generation, node, seconds):
    end = time.monotonic() + seconds
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    if place > 1000:
        return None
    if place == 1:
        time.sleep(max(end - time.monotonic(), 0))
        store.set(f"{key}/size", str(store.add(f"{key}/count", 1000) - 1000))
    return place - 1, int(store.get(f"{key}/size"))
