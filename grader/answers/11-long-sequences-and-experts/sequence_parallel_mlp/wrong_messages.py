# hint: messages
def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = [torch.empty_like(x) for _ in range(size)]
    rows[rank] = x
    requests = [dist.isend(x, r) for r in range(size) if r != rank]
    requests += [dist.irecv(rows[r], r) for r in range(size) if r != rank]
    for request in requests:
        request.wait()
    terms = F.gelu(torch.cat(rows) @ w1.T) @ w2.T
    mine = torch.empty_like(x)
    dist.reduce_scatter(mine, list(terms.chunk(size)))
    return mine
