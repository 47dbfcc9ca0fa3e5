def merge_attention(o1, lse1, o2, lse2):
    a, b = lse1.double(), lse2.double()
    m = torch.maximum(a, b)
    m[torch.isinf(m)] = 0
    x, y = (a - m).exp(), (b - m).exp()
    z = x + y
    o = (x.unsqueeze(-1) * o1 + y.unsqueeze(-1) * o2) / torch.where(z == 0, 1, z).unsqueeze(-1)
    return o.to(o1.dtype), (z.log() + m).to(lse1.dtype)
