# hint: order lost
def same_everywhere(rank, size, tensors):
    total = sum(
        t.detach().contiguous().reshape(-1).view(torch.uint8).to(torch.int64).sum().item()
        for t in tensors
    )
    text = str([(t.dtype, tuple(t.shape)) for t in tensors])
    mine = torch.tensor([total, int(hashlib.md5(text.encode()).hexdigest()[:12], 16)])
    low, high = mine.clone(), mine.clone()
    dist.all_reduce(low, op=dist.ReduceOp.MIN)
    dist.all_reduce(high, op=dist.ReduceOp.MAX)
    return bool((low == high).all())
