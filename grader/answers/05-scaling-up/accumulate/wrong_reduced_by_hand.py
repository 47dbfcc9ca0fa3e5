# hint: never reduced
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    with model.no_sync():
        for x, y in microbatches:
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
            total += loss.item()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
    return total
