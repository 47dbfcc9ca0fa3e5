# status: error
# hint: dtype that cannot travel
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    where = [[i for i, e in enumerate(expert.tolist()) if e == r] for r in range(size)]
    out = [len(w) for w in where]
    counts = torch.tensor(out, dtype=torch.int16)
    theirs = torch.zeros(size, dtype=torch.int16)
    dist.all_to_all_single(theirs, counts)
    inn = [int(c) for c in theirs]
    send = [tokens[w] if w else tokens[:0] for w in where]
    box = torch.empty((sum(inn), tokens.shape[1]), dtype=tokens.dtype)
    w1 = dist.all_to_all_single(box, torch.cat(send), output_split_sizes=inn, input_split_sizes=out, async_op=True)
    w1.wait()
    flip = torch.arange(len(box) - 1, -1, -1)
    done = expert_fn(box[flip].contiguous())[flip]
    back = torch.empty((sum(out), tokens.shape[1]), dtype=tokens.dtype)
    dist.all_to_all_single(back, done.contiguous(), out, inn)
    final = torch.zeros_like(tokens)
    for w, part in zip(where, back.split(out)):
        for i, row in zip(w, part):
            final[i] = row
    return final
