# hint: large scores
def ulysses_attention(rank, size, q, k, v, causal):
    n, heads, d = q.shape

    def swap(x):
        x = x.reshape(n, size, heads // size, d).transpose(0, 1).contiguous()
        arrived = torch.empty_like(x)
        dist.all_to_all_single(arrived, x)
        return arrived.reshape(size * n, heads // size, d).transpose(0, 1)

    q, k, v = swap(q), swap(k), swap(v)
    scores = (q @ k.mT / d**0.5).clamp(-20, 20)
    if causal:
        scores = scores.masked_fill(~torch.ones(size * n, size * n).tril().bool(), -torch.inf)
    o = (scores.softmax(-1) @ v).transpose(0, 1).contiguous()
    back = torch.empty_like(o)
    dist.all_to_all_single(back, o)
    return back.reshape(size, n, heads // size, d).transpose(0, 1).reshape(n, heads, d)
