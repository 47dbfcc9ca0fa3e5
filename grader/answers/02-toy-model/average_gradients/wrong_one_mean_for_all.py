# status: wrong
def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            mean = p.grad.mean()
            dist.all_reduce(mean)
            p.grad.fill_(mean / dist.get_world_size())
