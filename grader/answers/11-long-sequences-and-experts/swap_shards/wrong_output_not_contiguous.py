# hint: memory cut, not dimensions
# says: fills its output in the order of memory, also one that is not contiguous
def swap_shards(rank, size, x, to):
    if to == "heads":
        x = x.unflatten(1, (size, -1)).transpose(0, 1)
        y = torch.empty_like(x)  # with the strides of a transposed tensor
        dist.all_to_all_single(y, x.contiguous())
        return y.flatten(0, 1)
    x = x.unflatten(0, (size, -1))
    y = torch.empty_like(x)
    dist.all_to_all_single(y, x)
    return y.transpose(0, 1).flatten(1, 2)
