# hint: some gradients left out
def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            gradient = p.grad.clone()
            dist.all_reduce(gradient)
            gradient /= dist.get_world_size()
