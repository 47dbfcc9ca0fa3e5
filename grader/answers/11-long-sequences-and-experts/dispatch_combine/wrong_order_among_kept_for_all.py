# hint: other tokens
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    kept = expert >= 0
    order = expert[kept].argsort()  # places among those kept, used as places among all
    leave = torch.bincount(expert[kept], minlength=size)
    arrive = torch.empty_like(leave)
    dist.all_to_all_single(arrive, leave)
    leave, arrive = leave.tolist(), arrive.tolist()
    guests = tokens.new_empty(sum(arrive), tokens.shape[1])
    dist.all_to_all_single(guests, tokens[order], arrive, leave)
    back = tokens.new_empty(sum(leave), tokens.shape[1])
    dist.all_to_all_single(back, expert_fn(guests), leave, arrive)
    output = torch.zeros_like(tokens)
    output[order] = back
    return output
