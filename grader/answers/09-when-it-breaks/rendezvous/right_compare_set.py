def rendezvous(store, generation, node, seconds):
    """The list of members is one value, changed by compare_set alone."""
    end = time.monotonic() + seconds
    key = f"gen{generation}"
    held = store.compare_set(key, "", json.dumps([node]))
    first = json.loads(held) == [node]
    while not first:
        state = json.loads(held)
        if state[0] is None:
            return None
        wanted = json.dumps([*state, node])
        now = store.compare_set(key, held.decode(), wanted)
        if now.decode() == wanted:
            break
        held = now
    if first:
        time.sleep(max(end - time.monotonic(), 0))
        held = store.get(key)
        while True:
            closed = json.dumps([None, *json.loads(held)])
            now = store.compare_set(key, held.decode(), closed)
            if now.decode() == closed:
                break
            held = now
        store.set(f"{key} is over", "")
    store.wait([f"{key} is over"], timedelta(seconds=seconds + 100))
    names = sorted(json.loads(store.get(key))[1:])
    return names.index(node), len(names)
