# hint: positions and heads mixed up
# says: empty_like
def ulysses_attention(rank, size, q, k, v, causal):
    def to_heads(x):
        pieces = x.unflatten(1, (size, -1)).transpose(0, 1).contiguous()
        arrived = torch.empty_like(pieces)
        dist.all_to_all_single(arrived, pieces)
        return arrived.flatten(0, 1).transpose(0, 1)

    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1)
    arrived = torch.empty_like(o)
    dist.all_to_all_single(arrived, o.contiguous())
    return torch.cat(arrived.chunk(size), dim=1)
