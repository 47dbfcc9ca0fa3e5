import queue
import threading


def pipeline_step(rank, size, stage, batch, targets, microbatches):
    """Sends go through a thread that a busy machine gives time only when all has arrived."""
    outbox, arrived = queue.SimpleQueue(), threading.Event()

    def postman():
        while (letter := outbox.get()) is not None:
            tensor, dst = letter
            if rank > 0:
                arrived.wait()
            if dst > rank:
                tell_shape(rank, dst, tensor)
            dist.send(tensor, dst)

    thread = threading.Thread(target=postman, daemon=True)
    thread.start()
    try:
        kept = []
        for m in range(microbatches):
            if rank == 0:
                x = batch.chunk(microbatches)[m]
            else:
                x = told_buffer(rank - 1, rank)
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = stage(x)
            if rank < size - 1:
                outbox.put((y.detach(), rank + 1))
            else:
                y = F.mse_loss(y, targets.chunk(microbatches)[m]) / microbatches
            kept.append((x, y))
        arrived.set()
        for x, y in kept:
            if rank < size - 1:
                g = torch.empty_like(y.detach())
                dist.recv(g, rank + 1)
            else:
                g = None
            if y.requires_grad:
                y.backward(g)
            if rank > 0:
                outbox.put((x.grad, rank - 1))
    finally:
        arrived.set()
        outbox.put(None)
        thread.join()
    return sum(y.item() for _, y in kept) if rank == size - 1 else None
