# hint: never reduced
def accumulate(model, microbatches, loss_fn):
    net = model.module
    net.zero_grad()
    n = sum(len(x) for x, _ in microbatches)
    total = 0.0
    for x, y in microbatches:
        loss = loss_fn(net(x), y) * len(x) / n
        loss.backward()
        total += loss.item()
    return total
