# hint: own block alone
def ulysses_attention(rank, size, q, k, v, causal):
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(0, 1).contiguous()
