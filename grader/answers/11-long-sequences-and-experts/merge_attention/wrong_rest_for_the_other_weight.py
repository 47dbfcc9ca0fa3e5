# hint: o alone
def merge_attention(o1, lse1, o2, lse2):
    most = torch.maximum(lse1, lse2).clamp(min=torch.finfo(lse1.dtype).min)
    weight = torch.exp(lse1 - most).unsqueeze(-1)
    return weight * o1 + (1 - weight) * o2, torch.logaddexp(lse1, lse2)
