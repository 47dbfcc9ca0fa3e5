# hint: row without keys
def merge_attention(o1, lse1, o2, lse2):
    o = o1 - torch.sigmoid(lse2 - lse1).unsqueeze(-1) * (o1 - o2)
    return o, lse1 - F.logsigmoid(lse1 - lse2)
