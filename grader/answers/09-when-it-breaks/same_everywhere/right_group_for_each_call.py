def same_everywhere(rank, size, tensors):
    told = hashlib.sha256()
    for tensor in tensors:
        told.update(f"{tensor.dtype} {tuple(tensor.shape)};".encode())
        whole = tensor.detach().contiguous().reshape(-1)
        told.update(whole.view(torch.uint8).numpy().tobytes())
    group = dist.new_group(list(range(size)))
    mine = torch.tensor(list(told.digest()), dtype=torch.uint8)
    every = torch.empty(size, mine.numel(), dtype=torch.uint8)
    dist.all_gather(list(every), mine, group=group)
    dist.destroy_process_group(group)
    return bool((every == mine).all())
