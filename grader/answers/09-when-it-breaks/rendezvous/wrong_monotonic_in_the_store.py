# hint: clocks
from time import monotonic


def rendezvous(store, generation, node, seconds):
    key = f"r{generation}"
    ends = float(store.compare_set(f"{key}/end", "", repr(monotonic() + seconds)))
    if monotonic() > ends:
        return None
    place = store.add(f"{key}/count", 1)
    store.set(f"{key}/name/{place}", node)
    while monotonic() < ends:
        time.sleep(0.01)
    count = store.add(f"{key}/count", 0)
    names = sorted(store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1))
    return names.index(node), count
