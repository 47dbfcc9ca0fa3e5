import math


def merge_attention(o1, lse1, o2, lse2):
    o, lse = o1.clone().reshape(-1, o1.shape[-1]), lse1.clone().reshape(-1)
    others, more = o2.reshape(-1, o2.shape[-1]), lse2.reshape(-1)
    for row in range(len(lse)):
        a, b = lse[row].item(), more[row].item()
        if b == -math.inf:
            continue
        if a == -math.inf:
            o[row], lse[row] = others[row], b
            continue
        m = max(a, b)
        x, y = math.exp(a - m), math.exp(b - m)
        o[row] = (x * o[row] + y * others[row]) / (x + y)
        lse[row] = m + math.log(x + y)
    return o.reshape(o1.shape), lse.reshape(lse1.shape)
