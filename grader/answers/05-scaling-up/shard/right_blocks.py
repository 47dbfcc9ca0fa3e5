def shard(n, rank, size, epoch, seed):
    generator = torch.Generator()
    generator.manual_seed(hash((seed, epoch)) % 2**31)
    order = torch.randperm(n, generator=generator)
    pieces = torch.tensor_split(order, size)
    print("lengths", [len(p) for p in pieces])
    return pieces[rank].tolist()
