# hint: row without keys
def merge_attention(o1, lse1, o2, lse2):
    most = torch.maximum(lse1, lse2)
    w1, w2 = torch.exp(lse1 - most), torch.exp(lse2 - most)
    total = w1 + w2
    o = (w1.unsqueeze(-1) * o1 + w2.unsqueeze(-1) * o2) / total.unsqueeze(-1)
    return o, most + torch.log(total)
