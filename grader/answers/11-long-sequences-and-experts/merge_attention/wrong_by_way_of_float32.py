# hint: nearly right
def merge_attention(o1, lse1, o2, lse2):
    dtype = o1.dtype
    o1, lse1, o2, lse2 = (t.float() for t in (o1, lse1, o2, lse2))
    most = torch.maximum(lse1, lse2).clamp(min=-1e30)
    w1, w2 = torch.exp(lse1 - most), torch.exp(lse2 - most)
    total = w1 + w2
    o = w1.unsqueeze(-1) * o1 + w2.unsqueeze(-1) * o2
    o = o / total.clamp(min=1).unsqueeze(-1)
    return o.to(dtype), (most + torch.log(total)).to(dtype)
