def ulysses_attention(rank, size, q, k, v, causal):
    if size == 1:
        arrived = [x.unsqueeze(0) for x in (q, k, v)]
    else:
        sent = [torch.stack(x.chunk(size, dim=1)) for x in (q, k, v)]
        arrived = [torch.empty_like(x) for x in sent]
        works = [dist.all_to_all_single(y, x, async_op=True) for y, x in zip(arrived, sent)]
        for work in works:
            work.wait()
    q, k, v = (x.flatten(0, 1) for x in arrived)
    heads = []
    for h in range(q.shape[1]):
        one = [x[None, :, h] for x in (q, k, v)]
        heads.append(F.scaled_dot_product_attention(*one, is_causal=causal)[0])
    o = torch.stack(heads, dim=1)
    if size == 1:
        return o
    back = torch.empty_like(o)
    dist.all_to_all_single(back, o, async_op=True).wait()
    return torch.cat(back.chunk(size), dim=1)
