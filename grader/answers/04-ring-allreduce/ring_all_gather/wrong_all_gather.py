# hint: collective
def ring_all_gather(rank, size, chunks):
    parts = [torch.empty_like(chunk) for chunk in chunks]
    dist.all_gather(parts, chunks[(rank + 1) % size])
    for number, part in enumerate(parts):
        chunks[(number + 1) % size].copy_(part)
