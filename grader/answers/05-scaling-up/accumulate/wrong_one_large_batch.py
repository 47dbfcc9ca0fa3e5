# hint: one large batch
def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    inputs = torch.cat([x for x, _ in microbatches])
    targets = torch.cat([y for _, y in microbatches])
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    return loss.item()
