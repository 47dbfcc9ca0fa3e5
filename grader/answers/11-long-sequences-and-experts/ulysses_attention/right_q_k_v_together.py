def ulysses_attention(rank, size, q, k, v, causal):
    n, heads, d = q.shape
    few = heads // size
    together = torch.stack([q, k, v]).view(3, n, size, few, d).permute(2, 0, 1, 3, 4).contiguous()
    arrived = torch.empty_like(together)
    dist.all_to_all_single(arrived, together)
    q, k, v = arrived.permute(1, 3, 0, 2, 4).reshape(3, few, size * n, d)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    o = o.view(few, size, n, d).permute(1, 2, 0, 3).contiguous()
    back = torch.empty_like(o)
    dist.all_to_all_single(back, o)
    return back.permute(1, 0, 2, 3).reshape(n, heads, d)
