def dispatch_combine(rank, size, tokens, expert, expert_fn):
    routed = expert >= 0
    kept, to = tokens[routed], expert[routed]
    to, order = torch.sort(to)
    counts = torch.zeros(size, dtype=torch.int32)
    for e in to.tolist():
        counts[e] += 1
    incoming = torch.zeros_like(counts)
    dist.all_to_all_single(incoming, counts, async_op=True).wait()
    send, receive = counts.tolist(), incoming.tolist()
    sent = kept[order]
    got = torch.zeros(sum(receive), *tokens.shape[1:], dtype=tokens.dtype)
    dist.all_to_all_single(got, sent, receive, send, async_op=True).wait()
    outputs = torch.empty_like(sent)
    dist.all_to_all_single(outputs, expert_fn(got), send, receive, async_op=True).wait()
    unsorted = torch.empty_like(outputs)
    unsorted[order] = outputs
    result = torch.zeros_like(tokens)
    result[routed] = unsorted
    return result
