def same_everywhere(rank, size, tensors):
    text = hashlib.sha512()
    text.update(str([(str(t.dtype), list(t.shape)) for t in tensors]).encode())
    for t in tensors:
        flat = t.detach().contiguous().view(-1)
        if flat.dtype == torch.bool:
            flat = flat.to(torch.uint8)
        text.update(memoryview(flat.view(torch.uint8).numpy()))
    mine = torch.tensor(list(text.digest()), dtype=torch.uint8)
    gathered = [torch.empty_like(mine) for _ in range(size)] if rank == 0 else None
    dist.gather(mine, gathered, dst=0)
    verdict = torch.zeros(1, dtype=torch.int32)
    if rank == 0:
        verdict[0] = all((other == mine).all() for other in gathered)
    dist.broadcast(verdict, src=0)
    return verdict.item() == 1
