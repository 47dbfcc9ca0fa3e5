# hint: arguments changed
def merge_attention(o1, lse1, o2, lse2):
    most = torch.maximum(lse1, lse2).clamp(min=-1e30)
    w1, w2 = torch.exp(lse1 - most), torch.exp(lse2 - most)
    total = w1 + w2
    o1 *= (w1 / total.clamp(min=1)).unsqueeze(-1)
    o1 += (w2 / total.clamp(min=1)).unsqueeze(-1) * o2
    return o1, most + torch.log(total)
