# status: error
# hint: result of an in-place call
# says: average_gradients:8 is `p.grad = total / dist.get_world_size()`
def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            total = dist.all_reduce(p.grad)
            p.grad = total / dist.get_world_size()
