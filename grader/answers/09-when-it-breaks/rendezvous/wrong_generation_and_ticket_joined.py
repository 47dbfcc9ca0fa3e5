# status: error
# says: reads like 11
def rendezvous(store, generation, node, seconds):
    ticket = store.add(f"gen{generation}", 1)
    store.set(f"gen{generation}{ticket}", node)
    if ticket == 1:
        time.sleep(seconds)
        store.set(f"last{generation}", str(store.add(f"gen{generation}", 1) - 1))
    store.wait([f"last{generation}"], timedelta(seconds=seconds + 30))
    last = int(store.get(f"last{generation}"))
    if ticket > last:
        return None
    names = sorted(store.get(f"gen{generation}{i}").decode() for i in range(1, last + 1))
    return names.index(node), len(names)
