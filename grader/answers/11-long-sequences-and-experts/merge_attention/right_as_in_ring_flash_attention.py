def merge_attention(o1, lse1, o2, lse2):
    # out - sigmoid(block_lse - lse) * (out - block_out); lse - logsigmoid(lse - block_lse)
    first, second = torch.isneginf(lse1), torch.isneginf(lse2)
    a, b = lse1.masked_fill(first, 0), lse2.masked_fill(second, 0)
    o = o1 - torch.sigmoid(b - a).unsqueeze(-1) * (o1 - o2)
    lse = a - F.logsigmoid(a - b)
    o = torch.where(second.unsqueeze(-1), o1, torch.where(first.unsqueeze(-1), o2, o))
    return o, torch.where(second, lse1, torch.where(first, lse2, lse))
