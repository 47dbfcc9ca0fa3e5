# hint: divided twice
def average_gradients(model):
    size = dist.get_world_size()
    for p in model.parameters():
        if p.grad is not None:
            p.grad /= size
            dist.all_reduce(p.grad)
            p.grad /= size
