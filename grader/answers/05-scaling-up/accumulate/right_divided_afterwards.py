def accumulate(model, microbatches, loss_fn):
    for parameter in model.parameters():
        parameter.grad = None
    n = 0
    total = torch.zeros(())
    for number, (inputs, targets) in enumerate(microbatches, 1):
        model.require_backward_grad_sync = number == len(microbatches)
        loss = loss_fn(model(inputs), targets) * len(targets)
        loss.backward()
        total = total + loss.detach().cpu()
        n += len(targets)
    for parameter in model.parameters():
        parameter.grad /= n
    return float(total / n)
