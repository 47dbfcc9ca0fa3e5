# hint: reduced every micro-batch
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    for x, y in microbatches:
        loss = loss_fn(model(x), y) * len(x) / n
        loss.backward()
        total += loss.item()
    return total
