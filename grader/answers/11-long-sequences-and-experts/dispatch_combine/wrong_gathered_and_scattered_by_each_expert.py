# hint: one root at a time
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    out = torch.zeros_like(tokens)
    for e in range(size):
        arrived, back = [None] * size, [None]
        dist.gather_object(tokens[expert == e], arrived if rank == e else None, dst=e)
        pieces = [None] * size
        if rank == e:
            made = expert_fn(torch.cat(arrived))
            pieces = list(made.split([len(piece) for piece in arrived]))
        dist.scatter_object_list(back, pieces, src=e)
        out[expert == e] = back[0]
    return out
