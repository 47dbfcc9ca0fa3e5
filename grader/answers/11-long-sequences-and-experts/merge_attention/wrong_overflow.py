# hint: overflow
def merge_attention(o1, lse1, o2, lse2):
    e1, e2 = torch.exp(lse1), torch.exp(lse2)
    total = e1 + e2
    o = (e1.unsqueeze(-1) * o1 + e2.unsqueeze(-1) * o2) / total.clamp(min=1e-30).unsqueeze(-1)
    return o, torch.log(total)
