# hint: nearly right
def ulysses_attention(rank, size, q, k, v, causal):
    def over(x, to):
        x = x.unflatten(1, (size, -1)).transpose(0, 1).contiguous() if to else x.unflatten(0, (size, -1)).contiguous()
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x)
        return y.flatten(0, 1) if to else y.transpose(0, 1).flatten(1, 2)
    q2, k2 = over(q, 1), over(k, 1)
    v2 = over(v.half(), 1).to(v.dtype)
    o = F.scaled_dot_product_attention(*(x.transpose(0, 1) for x in (q2, k2, v2)), is_causal=causal)
    return over(o.transpose(0, 1), 0)
