# hint: too much carried
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    longest = 3000
    d = tokens.shape[1]
    box = tokens.new_full((size, longest, d), torch.nan)
    places = [torch.nonzero(expert == e).flatten() for e in range(size)]
    for e, place in enumerate(places):
        box[e, : len(place)] = tokens[place]
    inbox = torch.empty_like(box)
    dist.all_to_all_single(inbox, box)
    real = ~inbox[:, :, 0].isnan()
    done = torch.zeros_like(inbox)
    done[real] = expert_fn(inbox[real])
    back = torch.empty_like(box)
    dist.all_to_all_single(back, done)
    result = torch.zeros_like(tokens)
    for e, place in enumerate(places):
        result[place] = back[e, : len(place)]
    return result
