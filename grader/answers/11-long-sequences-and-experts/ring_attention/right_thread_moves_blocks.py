import queue
import threading


def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    inbox = queue.Queue()

    def mover(k, v):
        inbox.put((rank, k, v))
        for t in range(1, size):
            works = [dist.isend(k, (rank + 1) % size), dist.isend(v, (rank + 1) % size)]
            k2, v2 = torch.empty_like(k), torch.empty_like(v)
            works += [dist.irecv(k2, (rank - 1) % size), dist.irecv(v2, (rank - 1) % size)]
            for w in works:
                w.wait()
            k, v = k2, v2
            inbox.put(((rank - t) % size, k, v))

    thread = threading.Thread(target=mover, args=(k, v))
    thread.start()
    lse = torch.full_like(q[..., 0], -torch.inf)
    o = torch.zeros_like(q)
    for _ in range(size):
        src, kk, vv = inbox.get()
        if causal and src > rank:
            continue
        visible = torch.ones(n, n).tril().bool() if causal and src == rank else None
        oo, ll = attend(q, kk, vv, visible)
        new = torch.logaddexp(lse, ll)
        o = o * (lse - new).exp()[..., None] + oo * (ll - new).exp()[..., None]
        lse = new
    thread.join()
    return o
