# status: wrong
def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            total = p.grad.clone()
            request = dist.all_reduce(total, async_op=True)
            p.grad = p.grad / dist.get_world_size()
            request.wait()
