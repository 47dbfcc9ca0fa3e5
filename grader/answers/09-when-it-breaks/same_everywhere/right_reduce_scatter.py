from collections import namedtuple

Told = namedtuple("Told", "dtype shape digest")


def same_everywhere(rank, size, tensors):
    # what each rank has told to everybody is told apart by where in the sums it stands
    def told(tensor):
        raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return Told(str(tensor.dtype), tuple(tensor.shape), hashlib.sha256(raw).hexdigest())

    everything = [told(tensor) for tensor in tensors]
    assert all(hash(one) == hash(Told(*one)) for one in everything)
    digest = hashlib.blake2b(repr(everything).encode(), digest_size=8).digest()
    mine = torch.tensor(list(digest), dtype=torch.int32)
    if size == 1:
        return True
    # to rank r the difference from what rank r − 1 holds: rank r puts its own against it
    rows = [torch.zeros(8, dtype=torch.int32) for _ in range(size)]
    rows[(rank + 1) % size] += mine
    rows[rank] -= mine
    apart = torch.empty(8, dtype=torch.int32)
    dist.reduce_scatter(apart, rows)
    differ = apart.abs().sum().to(torch.int32).reshape(1)
    dist.all_reduce(differ)
    return differ.item() == 0
