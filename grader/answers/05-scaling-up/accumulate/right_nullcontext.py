from contextlib import nullcontext


def accumulate(model, microbatches, loss_fn):
    model.zero_grad(set_to_none=True)
    total = sum(x.shape[0] for x, _ in microbatches)
    losses = []
    for i, (x, y) in enumerate(microbatches):
        last = i == len(microbatches) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y)
            (loss * (x.shape[0] / total)).backward()
        losses.append(loss.item() * x.shape[0])
    return sum(losses) / total
