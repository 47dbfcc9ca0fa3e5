class Door:
    """Slots that are claimed one after the other; the first to come claims one more to close."""
    def __init__(self, store, generation):
        self.store = dist.PrefixStore(f"g{generation}", store)
    def claim(self, text):
        slot = 0
        while True:
            held = self.store.compare_set(f"slot {slot}", "", text).decode()
            if held == text:
                return slot
            if held == "!":
                return None
            slot += 1
    def members(self):
        names, slot = [], 0
        while True:
            held = self.store.get(f"slot {slot}").decode()
            if held == "!":
                return names
            names.append(held[1:])
            slot += 1

def rendezvous(store, generation, node, seconds):
    begin = time.monotonic()
    door = Door(store, generation)
    slot = door.claim("n" + node)
    if slot is None:
        return None
    if slot == 0:
        time.sleep(max(0, begin + seconds - time.monotonic()))
        door.claim("!")
        door.store.set("shut", "")
    door.store.wait(["shut"], timedelta(seconds=seconds + 30))
    names = sorted(door.members())
    return names.index(node), len(names)
