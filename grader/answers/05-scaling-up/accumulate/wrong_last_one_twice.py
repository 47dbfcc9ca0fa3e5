# hint: a micro-batch twice
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    samples = sum(len(inputs) for inputs, _ in microbatches)
    total = 0.0
    with model.no_sync():
        for inputs, targets in microbatches:
            loss = loss_fn(model(inputs), targets) * len(inputs) / samples
            loss.backward()
            total += loss.item()
    inputs, targets = microbatches[-1]
    loss = loss_fn(model(inputs), targets) * len(inputs) / samples
    loss.backward()
    return total
