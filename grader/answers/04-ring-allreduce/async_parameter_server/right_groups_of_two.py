from concurrent.futures import ThreadPoolExecutor
from threading import Lock


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    groups = {w: dist.new_group([0, w]) for w in range(1, size)}
    if rank:
        g = groups[rank]
        for _ in range(steps):
            for grad in gradient_fn(parameters):
                dist.broadcast(grad, src=rank, group=g)
            for p in parameters:
                dist.broadcast(p, src=0, group=g)
        return None
    lock, history = Lock(), []

    def serve(w):
        known = 0
        for _ in range(steps):
            grads = [torch.empty_like(p) for p in parameters]
            for grad in grads:
                dist.broadcast(grad, src=w, group=groups[w])
            with lock:
                history.append(len(history) - known)
                for p, grad in zip(parameters, grads):
                    p.add_(grad, alpha=-lr)
                known = len(history)
                answer = [p.clone() for p in parameters]
            for p in answer:
                dist.broadcast(p, src=0, group=groups[w])

    with ThreadPoolExecutor(size) as pool:
        list(pool.map(serve, groups))
    return {"parameters": parameters, "updates": len(history), "max_staleness": max(history)}
