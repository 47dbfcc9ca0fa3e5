# hint: read before wait
def ulysses_attention(rank, size, q, k, v, causal):
    sent = [torch.stack(x.chunk(size, dim=1)) for x in (q, k, v)]
    arrived = [torch.empty_like(x) for x in sent]
    for y, x in zip(arrived, sent):
        dist.all_to_all_single(y, x, async_op=True)
    q, k, v = (x.flatten(0, 1).transpose(0, 1) for x in arrived)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    o = o.transpose(0, 1).contiguous()
    back = torch.empty_like(o)
    dist.all_to_all_single(back, o)
    return torch.cat(back.chunk(size), dim=1)
