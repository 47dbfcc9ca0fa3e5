# hint: nothing swapped
def swap_shards(rank, size, x, to):
    if to == "heads":
        return x.chunk(size, dim=1)[rank].repeat(size, 1, 1)
    return x.chunk(size, dim=0)[rank].repeat(1, size, 1)
