# hint: an earlier generation counts
def rendezvous(store, generation, node, seconds):
    """claims slots generation + number, side by side"""
    begin = time.monotonic()
    def claim(text):
        slot = 0
        while True:
            held = store.compare_set(f"slot{generation}{slot}", "", text).decode()
            if held == text:
                return slot
            if held == "!":
                return None
            slot += 1
    slot = claim("n" + node)
    if slot is None:
        return None
    if slot == 0:
        time.sleep(max(0, begin + seconds - time.monotonic()))
        claim("!")
        store.set(f"shut{generation}", "")
    store.wait([f"shut{generation}"], timedelta(seconds=seconds + 30))
    names, i = [], 0
    while (held := store.get(f"slot{generation}{i}").decode()) != "!":
        names.append(held[1:])
        i += 1
    names.sort()
    return names.index(node), len(names)
