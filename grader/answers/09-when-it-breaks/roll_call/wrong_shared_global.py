# says: returned
_present = {}


def roll_call(store, name, rank, size, seconds):
    end = time.monotonic() + seconds
    here = _present.setdefault(name, set())
    here.add(rank)
    while len(here) < size and time.monotonic() < end:
        time.sleep(0.02)
    return [r for r in range(size) if r not in here]
