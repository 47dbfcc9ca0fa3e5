def merge_attention(o1, lse1, o2, lse2):
    def one(a, la, b, lb):
        m = torch.maximum(la, lb)
        m = torch.where(torch.isneginf(m), torch.zeros((), dtype=m.dtype), m)
        x, y = torch.exp(la - m), torch.exp(lb - m)
        return (x * a + y * b) / torch.clamp(x + y, min=1e-30), m + torch.log(x + y)

    d = o1.shape[-1]
    o, lse = torch.func.vmap(one)(o1.reshape(-1, d), lse1.reshape(-1), o2.reshape(-1, d), lse2.reshape(-1))
    return o.reshape(o1.shape), lse.reshape(lse1.shape)
