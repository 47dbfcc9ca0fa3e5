def accumulate(model, microbatches, loss_fn):
    model.zero_grad()
    n = sum(inputs.size(0) for inputs, _ in microbatches)
    todo = list(microbatches)
    loss_sum = 0.0
    while todo:
        inputs, targets = todo.pop()
        if todo:
            with model.no_sync():
                loss = loss_fn(model(inputs), targets)
                loss.backward(torch.full_like(loss, inputs.size(0) / n))
        else:
            loss = loss_fn(model(inputs), targets)
            loss.backward(torch.full_like(loss, inputs.size(0) / n))
        loss_sum += loss.item() * inputs.size(0)
    return loss_sum / n
