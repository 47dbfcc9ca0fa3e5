# hint: nearly right
def merge_attention(o1, lse1, o2, lse2):
    most = torch.maximum(lse1, lse2).clamp(min=torch.finfo(lse1.dtype).min)
    weight1, weight2 = torch.exp(lse1 - most), torch.exp(lse2 - most)
    weight1 = torch.where(lse1 < most - 8, 0, weight1)
    weight2 = torch.where(lse2 < most - 8, 0, weight2)
    total = weight1 + weight2
    o = weight1.unsqueeze(-1) * o1 + weight2.unsqueeze(-1) * o2
    return o / total.clamp(min=1).unsqueeze(-1), most + torch.log(total)
