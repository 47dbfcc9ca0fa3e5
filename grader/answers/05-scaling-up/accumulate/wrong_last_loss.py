# hint: another loss
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    for k, (x, y) in enumerate(microbatches, 1):
        model.require_backward_grad_sync = k == len(microbatches)
        loss = loss_fn(model(x), y)
        (loss * len(x) / n).backward()
    return loss.item()
