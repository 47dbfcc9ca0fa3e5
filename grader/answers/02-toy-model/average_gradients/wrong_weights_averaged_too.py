# status: wrong
def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            for tensor in (p.grad, p.data):
                dist.all_reduce(tensor)
                tensor /= dist.get_world_size()
