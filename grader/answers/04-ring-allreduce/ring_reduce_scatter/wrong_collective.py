# hint: collective
def ring_reduce_scatter(rank, size, chunks):
    total = torch.stack(chunks)
    dist.all_reduce(total)
    chunks[(rank + 1) % size].copy_(total[(rank + 1) % size])
