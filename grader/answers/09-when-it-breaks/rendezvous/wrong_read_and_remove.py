# says: rendezvous returns
def rendezvous(store, generation, node, seconds):
    """The list is read, changed and written: two at a time lose one."""
    end = time.monotonic() + seconds
    key = f"r{generation}"
    first = store.add(f"{key}/first", 1) == 1
    if store.check([f"{key}/over"]):
        return None
    names = json.loads(store.get(f"{key}/names")) if not first else []
    store.set(f"{key}/names", json.dumps([*names, node]))
    if first:
        time.sleep(max(end - time.monotonic(), 0))
        store.set(f"{key}/over", "1")
    store.wait([f"{key}/over"])
    names = sorted(json.loads(store.get(f"{key}/names")))
    return (names.index(node), len(names)) if node in names else None
