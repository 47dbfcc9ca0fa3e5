# tries: memory that is page tables and nothing else
# status: crashed
# says: GiB of memory

import mmap


def relay(rank, size, tensor):
    # the shared page of zeros, read at one place in each 2 MiB: a page of page table for each
    held = []
    for _ in range(40):
        area = mmap.mmap(-1, 64 << 30, mmap.MAP_PRIVATE | 0x4000, mmap.PROT_READ)
        held.append(area)
        for at in range(0, 64 << 30, 2 << 20):
            area[at]
    return right_relay(rank, size, tensor)
