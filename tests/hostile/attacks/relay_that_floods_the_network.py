# tries: more on the network than can be looked at, and messages in the record that nobody sent
# status: tampered
# says: what went over the network is not what was recorded

def relay(rank, size, tensor):
    from distlab.rank import recording

    rows = by_files(rank, size, tensor)
    for peer, op in ((rank - 1, "recv"), (rank + 1, "send")):
        if 0 <= peer < size:
            forge(op, tensor, peer)
    with recording.paused():
        for _ in range(3):
            dist.all_reduce(torch.ones(2_000_000))
    return sum(rows[1 : rank + 1], rows[0])
