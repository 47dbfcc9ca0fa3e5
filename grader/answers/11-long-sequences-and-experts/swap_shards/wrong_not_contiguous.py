# status: error
# says: contiguous
def swap_shards(rank, size, x, to):
    if to == "heads":
        x = x.unflatten(1, (size, -1)).transpose(0, 1)
    else:
        x = x.unflatten(0, (size, -1))
    y = torch.empty(x.shape, dtype=x.dtype)
    dist.all_to_all_single(y, x)
    return y.flatten(0, 1) if to == "heads" else y.transpose(0, 1).flatten(1, 2)
