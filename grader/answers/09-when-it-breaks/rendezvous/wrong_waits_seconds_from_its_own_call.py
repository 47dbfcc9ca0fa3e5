# hint: gave up waiting
def rendezvous(store, generation, node, seconds):
    end = time.monotonic() + seconds
    k = f"r/{generation}/"
    i = store.add(k + "n", 1)
    store.set(k + f"w/{i}", node)
    if i == 1:
        time.sleep(max(0, end - time.monotonic()))
        n = store.add(k + "n", 0)
        store.set(k + "closed", str(n))
    try:
        store.wait([k + "closed"], timedelta(seconds=seconds))
    except Exception:
        return None
    n = int(store.get(k + "closed"))
    if i > n:
        return None
    names = sorted(store.get(k + f"w/{j}").decode() for j in range(1, n + 1))
    return names.index(node), n
