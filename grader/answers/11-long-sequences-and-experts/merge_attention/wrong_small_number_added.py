# hint: nearly right
def merge_attention(o1, lse1, o2, lse2):
    most = torch.maximum(lse1, lse2).clamp(min=-1e30)
    w1, w2 = torch.exp(lse1 - most), torch.exp(lse2 - most)
    total = w1 + w2
    o = (w1.unsqueeze(-1) * o1 + w2.unsqueeze(-1) * o2) / (total + 1e-4).unsqueeze(-1)
    return o, most + torch.log(total)
