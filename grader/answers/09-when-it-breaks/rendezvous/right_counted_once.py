def rendezvous(store, generation, node, seconds):
    p = dist.PrefixStore(str(generation), store)
    if p.check(["closed"]):
        return None
    n = p.add("n", 1)
    p.set(f"m{n}", node)
    if n == 1:
        time.sleep(seconds)
        p.set("closed", str(p.add("n", 0)))
    p.wait(["closed"], timedelta(seconds=seconds + 20))
    total = int(p.get("closed"))
    names = sorted(p.get(f"m{i}").decode() for i in range(1, total + 1))
    return (names.index(node), total) if node in names else None
