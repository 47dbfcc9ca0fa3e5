# hint: memory cut, not dimensions
def swap_shards(rank, size, x, to):
    y = torch.empty_like(x)
    dist.all_to_all_single(y, x)
    if to == "heads":
        return y.reshape(size * x.shape[0], x.shape[1] // size, x.shape[2])
    return y.reshape(x.shape[0] // size, x.shape[1] * size, x.shape[2])
