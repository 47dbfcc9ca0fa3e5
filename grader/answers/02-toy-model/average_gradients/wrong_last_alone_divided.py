# hint: sums among means
def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
    p.grad /= dist.get_world_size()
