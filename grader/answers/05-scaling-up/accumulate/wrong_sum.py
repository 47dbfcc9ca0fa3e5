# hint: sum of micro-batches
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    with model.no_sync():
        for x, y in microbatches[:-1]:
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x) / n
    x, y = microbatches[-1]
    loss = loss_fn(model(x), y)
    loss.backward()
    return total + loss.item() * len(x) / n
