# tries: the course's secret in the environment, on the disk and in its own memory
# status: passed

import re

import numpy as np

# shifted, so that what is looked for is not here because it is looked for
SHIFT = 90
NEEDLES = {shifted}
VARIABLE = "TERCES_BALTSID"[::-1]


def regions():
    with open("/proc/self/maps") as file:
        for line in file:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found:
                yield int(found[1], 16), int(found[2], 16)


def in_memory():
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    there = np.frombuffer(os.urandom(32), np.uint8)  # this is to be found
    control, works = (there + np.uint8(SHIFT)).tobytes(), False
    for begin, end in regions():
        for at in range(begin, end, 1 << 24):
            try:
                read = os.pread(memory, min(end - at, (1 << 24) + 64), at)
            except OSError:
                continue
            shifted = (np.frombuffer(read, np.uint8) + np.uint8(SHIFT)).tobytes()
            works = works or control in shifted
            if any(needle in shifted for needle in NEEDLES):
                return "in memory"
    return "" if works else "not even what is there"


def relay(rank, size, tensor):
    found = [VARIABLE] if VARIABLE in os.environ else []
    found += [place for place in PLACES if os.path.exists(place)]
    if (rank, size) == (0, 2):
        found += filter(None, [in_memory()])
    if found:
        raise RuntimeError(f"found {found}")
    return right_relay(rank, size, tensor)


PLACES = [place[::-1] for place in {places}]
