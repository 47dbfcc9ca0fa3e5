# hint: wrong scale
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    samples = sum(len(inputs) for inputs, _ in microbatches)
    total = 0.0
    for number, (inputs, targets) in enumerate(microbatches):
        model.require_backward_grad_sync = number == len(microbatches) - 1
        loss = loss_fn(model(inputs), targets)
        (loss / samples).backward()
        total += loss.item() * len(inputs)
    return total / samples
