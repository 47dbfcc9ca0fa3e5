# torch: 2.13
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    d = tokens.shape[1]
    places = [(expert == e).nonzero().squeeze(1) for e in range(size)]
    lengths = torch.tensor([0 if e == rank else len(p) for e, p in enumerate(places)])
    theirs = torch.zeros(size, dtype=torch.int64)
    dist.all_to_all(list(theirs.chunk(size)), list(lengths.chunk(size)))
    there, here = lengths.tolist(), theirs.tolist()
    away = torch.cat([p for e, p in enumerate(places) if e != rank] or [places[0][:0]])
    guests = tokens.new_empty(sum(here), d)
    dist.all_to_all_single(guests, tokens[away], here, there)
    done = expert_fn(torch.cat([tokens[places[rank]], guests]))
    stayed = len(places[rank])
    back = tokens.new_empty(len(away), d)
    dist.all_to_all_single(back, done[stayed:].contiguous(), there, here)
    result = torch.zeros_like(tokens)
    result[places[rank]] = done[:stayed]
    result[away] = back
    return result
