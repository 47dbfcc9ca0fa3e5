# status: wrong
import queue
import threading


def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    """Micro-batches are received by a thread of their own, as fast as they come."""
    inbox, sends, kept, total = queue.SimpleQueue(), [], [], 0.0

    def receiving():
        for _ in range(microbatches):
            x = told_buffer(rank - 1, rank)
            dist.recv(x, rank - 1)
            inbox.put(x)

    def forward(m):
        nonlocal total
        x = batch.chunk(microbatches)[m] if rank == 0 else inbox.get().requires_grad_()
        y = stage(x)
        if rank < size - 1:
            tell_shape(rank, rank + 1, y)
            sends.append(dist.isend(y.detach(), rank + 1))
        else:
            y = F.mse_loss(y, targets.chunk(microbatches)[m]) / microbatches
            total += y.item()
        kept.append((x, y))

    def backward():
        x, y = kept.pop(0)
        g = None
        if rank < size - 1:
            g = torch.empty_like(y.detach())
            dist.recv(g, rank + 1)
        if y.requires_grad:
            y.backward(g)
        if rank > 0:
            sends.append(dist.isend(x.grad, rank - 1))

    thread = threading.Thread(target=receiving, daemon=True)
    if rank > 0:
        thread.start()
    ahead = min(size - 1 - rank, microbatches)
    for m in range(ahead):
        forward(m)
    for m in range(ahead, microbatches):
        forward(m)
        backward()
    for _ in range(ahead):
        backward()
    for send in sends:
        send.wait()
    return total if rank == size - 1 else None
