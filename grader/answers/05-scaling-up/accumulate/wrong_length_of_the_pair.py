# hint: mean of means
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    samples = sum(len(microbatch) for microbatch in microbatches)
    total = 0.0
    for number, microbatch in enumerate(microbatches):
        last = number == len(microbatches) - 1
        with contextlib.nullcontext() if last else model.no_sync():
            inputs, targets = microbatch
            loss = loss_fn(model(inputs), targets) * len(microbatch) / samples
            loss.backward()
            total += loss.item()
    return total
