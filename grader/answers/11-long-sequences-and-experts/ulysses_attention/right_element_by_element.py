def ulysses_attention(rank, size, q, k, v, causal):
    heads_each = q.shape[1] // size
    def exchange(x):
        send = []
        recv = []
        for r in range(size):
            piece = x[:, r * heads_each:(r + 1) * heads_each, :].clone().contiguous()
            send.append(piece)
            recv.append(torch.zeros_like(piece))
        dist.all_to_all(recv, send)
        return torch.cat(recv, dim=0)
    Q = exchange(q)
    K = exchange(k)
    V = exchange(v)
    result = torch.zeros_like(Q)
    total = Q.shape[0]
    for h in range(heads_each):
        for i in range(total):
            if causal:
                last = i + 1
            else:
                last = total
            scores = []
            for j in range(last):
                scores.append((Q[i, h] * K[j, h]).sum() / math.sqrt(Q.shape[2]))
            weights = torch.softmax(torch.stack(scores), dim=0)
            for j in range(last):
                result[i, h] += weights[j] * V[j, h]
    n = q.shape[0]
    send = []
    recv = []
    for r in range(size):
        send.append(result[r * n:(r + 1) * n].clone().contiguous())
        recv.append(torch.zeros(n, heads_each, q.shape[2], dtype=q.dtype))
    dist.all_to_all(recv, send)
    return torch.cat(recv, dim=1)
