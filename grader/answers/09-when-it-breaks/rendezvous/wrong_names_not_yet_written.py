# hint: members disagree
def rendezvous(store, generation, node, seconds):
    """A worker that is counted may not have written its name yet: nobody waits for it."""
    p = dist.PrefixStore(str(generation), store)
    if p.check(["closed"]):
        return None
    n = p.add("n", 1)
    p.set(f"m{n}", node)
    if n == 1:
        time.sleep(seconds)
        p.set("closed", str(p.add("n", 0)))
    p.wait(["closed"], timedelta(seconds=seconds + 20))
    keys = [f"m{i}" for i in range(1, int(p.get("closed")) + 1)]
    names = sorted(p.get(key).decode() for key in keys if p.check([key]))
    return (names.index(node), len(names)) if node in names else None
