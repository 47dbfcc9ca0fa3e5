# hint: tensor for float
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    for k, (x, y) in enumerate(microbatches, 1):
        model.require_backward_grad_sync = k == len(microbatches)
        loss = loss_fn(model(x), y) * len(x) / n
        loss.backward()
        total += loss.detach().numpy()
    return total
