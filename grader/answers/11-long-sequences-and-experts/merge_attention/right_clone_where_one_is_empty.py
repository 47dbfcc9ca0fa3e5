def merge_attention(o1, lse1, o2, lse2):
    if torch.isneginf(lse1).all():
        return o2.clone(), lse2.clone()
    if torch.isneginf(lse2).all():
        return o1.clone(), lse1.clone()
    lse = torch.logsumexp(torch.stack([lse1, lse2]).double(), 0)
    safe = torch.where(torch.isneginf(lse), 0, lse)
    o = (lse1 - safe).exp()[..., None] * o1 + (lse2 - safe).exp()[..., None] * o2
    return o.to(o1.dtype), lse.to(lse1.dtype)
