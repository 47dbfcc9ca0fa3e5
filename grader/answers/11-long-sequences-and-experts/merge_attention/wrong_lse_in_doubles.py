# hint: other dtype
def merge_attention(o1, lse1, o2, lse2):
    m = torch.maximum(lse1, lse2)
    s = torch.where(torch.isneginf(m), 0.0, m)
    w1, w2 = torch.exp(lse1 - s), torch.exp(lse2 - s)
    t = w1 + w2
    o = (w1.unsqueeze(-1) * o1 + w2.unsqueeze(-1) * o2) / torch.where(t > 0, t, 1.0).unsqueeze(-1)
    return o, (s.double() + t.double().log())
