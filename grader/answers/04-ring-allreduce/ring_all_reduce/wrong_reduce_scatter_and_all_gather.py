# hint: collective
def ring_all_reduce(rank, size, tensor):
    length = -(-tensor.numel() // size)
    flat = torch.zeros(size * length, dtype=tensor.dtype)
    flat[: tensor.numel()] = tensor.flatten()
    mine = torch.empty(length, dtype=tensor.dtype)
    dist.reduce_scatter_tensor(mine, flat)
    dist.all_gather_into_tensor(flat, mine)
    return flat[: tensor.numel()].view(tensor.shape)
