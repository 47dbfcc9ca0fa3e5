# hint: another order
import re


def rendezvous(store, generation, node, seconds):
    end = time.monotonic() + seconds
    key = f"r{generation}"
    place = store.add(f"{key}/count", 1)
    if place > 1000:
        return None
    store.set(f"{key}/name/{place}", node)
    if place == 1:
        time.sleep(max(end - time.monotonic(), 0))
        count = store.add(f"{key}/count", 1000) - 1000
        names = [store.get(f"{key}/name/{i}").decode() for i in range(1, count + 1)]
        names.sort(key=lambda n: [int(p) if p.isdigit() else p.lower() for p in re.split(r"(\d+)", n)])
        store.set(f"{key}/members", json.dumps(names))
    members = json.loads(store.get(f"{key}/members"))
    return members.index(node), len(members)
