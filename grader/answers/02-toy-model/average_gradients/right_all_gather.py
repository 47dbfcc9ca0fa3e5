def average_gradients(model):
    for p in filter(lambda p: p.grad is not None, model.parameters()):
        everybody = [torch.empty_like(p.grad) for _ in range(dist.get_world_size())]
        dist.all_gather(everybody, p.grad)
        p.grad = torch.stack(everybody).mean(0)
