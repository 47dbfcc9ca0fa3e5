# hint: gathered
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    everybody = [None] * size
    dist.all_gather_object(everybody, (tokens, expert))
    mine = torch.cat([t[e == rank] for t, e in everybody])
    done = expert_fn(mine)
    answers = [None] * size
    dist.all_gather_object(answers, done)
    result = torch.zeros_like(tokens)
    for owner in range(size):
        before = sum(int((e == owner).sum()) for _, e in everybody[:rank])
        count = int((expert == owner).sum())
        result[expert == owner] = answers[owner][before : before + count]
    return result
