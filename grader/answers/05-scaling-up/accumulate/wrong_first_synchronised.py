# hint: reduced too early
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    for k, (x, y) in enumerate(microbatches):
        model.require_backward_grad_sync = k == 0
        loss = loss_fn(model(x), y) * len(x) / n
        loss.backward()
        total += loss.item()
    model.require_backward_grad_sync = True
    return total
