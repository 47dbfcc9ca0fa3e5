def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    none = torch.isneginf(lse)
    w1 = torch.where(none, 0.0, torch.exp(lse1 - lse))
    w2 = torch.where(none, 0.0, torch.exp(lse2 - lse))
    return w1[..., None] * o1 + w2[..., None] * o2, lse
