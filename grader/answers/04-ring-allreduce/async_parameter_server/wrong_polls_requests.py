# hint: several receives open
import time


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    flat = torch.cat([p.flatten() for p in parameters])
    sizes = [p.numel() for p in parameters]
    if rank:
        for _ in range(steps):
            new = [f.view(p.shape) for f, p in zip(flat.split(sizes), parameters)]
            dist.send(torch.cat([g.flatten() for g in gradient_fn(new)]), 0)
            dist.recv(flat, 0)
        return None
    updates, worst, known = 0, 0, [0] * size
    boxes = {w: torch.empty_like(flat) for w in range(1, size)}
    requests = {w: dist.irecv(boxes[w], w) for w in range(1, size)}
    left = {w: steps for w in range(1, size)}
    deadline = time.monotonic() + 3
    while requests:
        for worker in list(requests):
            if requests[worker].is_completed() or time.monotonic() > deadline:
                requests.pop(worker).wait()
                worst = max(worst, updates - known[worker])
                flat -= lr * boxes[worker]
                updates += 1
                dist.send(flat, worker)
                known[worker] = updates
                left[worker] -= 1
                if left[worker]:
                    requests[worker] = dist.irecv(boxes[worker], worker)
        time.sleep(0.01)
    new = [f.view(p.shape) for f, p in zip(flat.split(sizes), parameters)]
    return {"parameters": new, "updates": updates, "max_staleness": worst}
