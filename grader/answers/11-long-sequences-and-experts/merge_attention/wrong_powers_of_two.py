# hint: neither
def merge_attention(o1, lse1, o2, lse2):
    most = torch.maximum(lse1, lse2).clamp(min=torch.finfo(lse1.dtype).min)
    weight1, weight2 = torch.exp2(lse1 - most), torch.exp2(lse2 - most)
    total = weight1 + weight2
    o = weight1.unsqueeze(-1) * o1 + weight2.unsqueeze(-1) * o2
    return o / total.clamp(min=1).unsqueeze(-1), most + torch.log2(total)
