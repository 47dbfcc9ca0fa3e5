# hint: padded with anything
def shard_flat(rank, size, tensors):
    line = torch.cat([t.reshape(-1) for t in tensors])
    length = -(-len(line) // size)
    piece = line.new_empty(length)
    mine = line[rank * length:(rank + 1) * length]
    piece[:len(mine)] = mine
    return piece
