def rendezvous(store, generation, node, seconds):
    log = f"log of generation {generation}"

    def lines():
        return store.get(log).decode().split("\n")[:-1]

    store.append(log, json.dumps(node) + "\n")
    if lines()[0] == json.dumps(node):
        time.sleep(seconds)
        store.append(log, "closed\n")
    while "closed" not in lines():
        time.sleep(0.01)
    entries = lines()
    members = sorted(json.loads(e) for e in entries[: entries.index("closed")])
    if node not in members:
        return None
    return (members.index(node), len(members))
