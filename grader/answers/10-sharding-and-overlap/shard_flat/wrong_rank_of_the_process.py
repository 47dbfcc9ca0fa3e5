# hint: rank of the process
def shard_flat(rank, size, tensors):
    line = torch.cat([tensor.flatten() for tensor in tensors])
    line = F.pad(line, (0, -len(line) % size))
    return line.view(size, -1)[dist.get_rank()].clone()
