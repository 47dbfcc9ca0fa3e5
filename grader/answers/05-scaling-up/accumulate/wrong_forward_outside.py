# hint: reduced every micro-batch
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    for k, (x, y) in enumerate(microbatches):
        loss = loss_fn(model(x), y) * len(x) / n
        if k < len(microbatches) - 1:
            with model.no_sync():
                loss.backward()
        else:
            loss.backward()
        total += loss.item()
    return total
