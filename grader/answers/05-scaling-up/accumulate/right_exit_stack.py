import contextlib
import warnings


def accumulate(model, microbatches, loss_fn):
    warnings.warn("accumulating")
    sizes = [len(x) for x, _ in microbatches]
    weights = torch.tensor(sizes, dtype=torch.float64) / sum(sizes)
    mean = 0.0
    with contextlib.ExitStack() as stack:
        stack.enter_context(model.no_sync())
        for k, ((x, y), weight) in enumerate(zip(microbatches, weights.tolist())):
            if k == 0:
                model.zero_grad()
            if k + 1 == len(microbatches):
                stack.close()
            scaled = weight * loss_fn(model(x), y)
            scaled.backward()
            mean += float(scaled)
    return mean
