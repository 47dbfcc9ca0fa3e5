# tries: 4 ranks with a shared mapping of 1.2 GB each, which no limit on a process counts
# status: error

import mmap


def relay(rank, size, tensor):
    hoard = mmap.mmap(-1, 1200 << 20)
    for at in range(0, len(hoard), 4096):
        hoard[at] = 1
    time.sleep(3)
    return right_relay(rank, size, tensor)
