def rendezvous(store, generation, node, seconds):
    mine = dist.PrefixStore(f"rendezvous {generation}", store)
    ticket = mine.add("tickets", 1)
    mine.set(f"name {ticket}", node)
    if ticket == 1:
        time.sleep(seconds)
        last = mine.add("tickets", 1) - 1  # whoever has a later one is out
        mine.set("last", str(last))
    mine.wait(["last"], timedelta(seconds=seconds + 30))
    last = int(mine.get("last"))
    if ticket > last:
        return None
    names = sorted(mine.get(f"name {i}").decode() for i in range(1, last + 1))
    return names.index(node), len(names)
