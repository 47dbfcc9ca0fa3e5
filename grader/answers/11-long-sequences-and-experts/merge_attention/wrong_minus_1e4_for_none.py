# hint: row without keys
def merge_attention(o1, lse1, o2, lse2):
    none = torch.isneginf(lse1) & torch.isneginf(lse2)
    a, b = lse1.clamp(min=-1e4), lse2.clamp(min=-1e4)
    lse = torch.maximum(a, b) + torch.log1p(torch.exp(-(a - b).abs()))
    w = torch.sigmoid(a - b)[..., None]
    return w * o1 + (1 - w) * o2, torch.where(none, -torch.inf, lse)
