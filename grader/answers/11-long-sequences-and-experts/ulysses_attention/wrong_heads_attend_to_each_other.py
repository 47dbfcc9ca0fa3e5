# hint: attention between heads
def ulysses_attention(rank, size, q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
