# tries: a record that says that it holds more than it can
# status: tampered
# says: what went over the network is not what was recorded

def relay(rank, size, tensor):
    import struct

    from distlab.rank import recording

    rows = [torch.empty_like(tensor) for _ in range(size)]
    with recording.paused():
        dist.all_gather(rows, tensor)
    right_relay(rank, size, tensor)
    record = recording.active()
    record._indices = iter(range(1_000_000, 2_000_000))
    struct.pack_into("<i", record._map, 8, 1_000_000)
    record._count = 1_000_000
    return sum(rows[1 : rank + 1], rows[0])
