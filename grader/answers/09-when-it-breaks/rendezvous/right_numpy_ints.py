import numpy as np
def rendezvous(store, generation, node, seconds):
    deadline = time.monotonic() + seconds
    key = f"rendezvous/{generation}"
    place = store.add(f"{key}/count", 1)
    if place > 10**6:
        return None
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        time.sleep(max(deadline - time.monotonic(), 0))
        count = store.add(f"{key}/count", 10**6) - 10**6
        store.set(f"{key}/size", str(count))
    store.wait([f"{key}/size"], timedelta(seconds=seconds + 60))
    count = int(store.get(f"{key}/size"))
    names = np.array([store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1)])
    return np.flatnonzero(np.sort(names) == node)[0], len(names)
