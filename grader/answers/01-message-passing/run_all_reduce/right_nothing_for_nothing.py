def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    flat = tensor.view(-1)
    half = flat.numel() // 2
    works = [
        dist.all_reduce(part, group=group, async_op=True)
        for part in (flat[:half], flat[half:])
        if part.numel()
    ]
    for work in works:
        work.wait()
    return tensor
