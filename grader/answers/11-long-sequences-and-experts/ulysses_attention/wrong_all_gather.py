# hint: gathered
def ulysses_attention(rank, size, q, k, v, causal):
    whole = []
    for x in (q, k, v):
        parts = [torch.empty_like(x) for _ in range(size)]
        dist.all_gather(parts, x)
        whole.append(torch.cat(parts).transpose(0, 1))
    o = F.scaled_dot_product_attention(*whole, is_causal=causal).transpose(0, 1)
    return o.chunk(size)[rank].contiguous()
