# hint: lse of another shape
def merge_attention(o1, lse1, o2, lse2):
    lse1, lse2 = lse1.unsqueeze(-1), lse2.unsqueeze(-1)
    lse = torch.logaddexp(lse1, lse2)
    return torch.exp(lse1 - lse) * o1 + torch.exp(lse2 - lse) * o2, lse
