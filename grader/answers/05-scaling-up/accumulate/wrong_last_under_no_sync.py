# hint: reduced several times
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    samples = sum(len(inputs) for inputs, _ in microbatches)
    mean = 0.0
    for number, (inputs, targets) in enumerate(microbatches, 1):
        last = number == len(microbatches)
        with model.no_sync() if last else contextlib.nullcontext():
            loss = loss_fn(model(inputs), targets) * len(inputs) / samples
            loss.backward()
        mean += loss.item()
    return mean
