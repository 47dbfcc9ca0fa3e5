import pickle
import time

from torch.distributed.distributed_c10d import _get_default_store
def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    store = dist.PrefixStore("ps", _get_default_store())
    if rank:
        theta = [p.clone() for p in parameters]
        for s in range(steps):
            store.set(f"push/{rank}/{s}", pickle.dumps(gradient_fn(theta)))
            store.add("pushes", 1)
            theta = pickle.loads(store.get(f"answer/{rank}/{s}"))
        return None
    theta, last, done, updates, worst = [p.clone() for p in parameters], [0] * size, [0] * size, 0, 0
    while updates < steps * (size - 1):
        for w in range(1, size):
            key = f"push/{w}/{done[w]}"
            if done[w] < steps and store.check([key]):
                worst = max(worst, updates - last[w])
                for p, g in zip(theta, pickle.loads(store.get(key))): p -= lr * g
                updates += 1; last[w] = updates
                store.set(f"answer/{w}/{done[w]}", pickle.dumps(theta)); done[w] += 1
        time.sleep(0.001)
    return {"parameters": theta, "updates": updates, "max_staleness": worst}
