# status: deadlock
def average_gradients(model):
    rank, size = dist.get_rank(), dist.get_world_size()
    for p in model.parameters():
        if p.grad is None or size == 1:
            continue
        total, passing = p.grad.clone(), p.grad.clone()
        for _ in range(size - 1):
            arriving = torch.empty_like(passing)
            sending = dist.isend(passing, (rank + 1) % size)
            if passing.nbytes > 1 << 20:
                sending.wait()
            dist.recv(arriving, (rank - 1) % size)
            sending.wait()
            passing = arriving
            total += passing
        p.grad.copy_(total / size)
