# hint: used before wait
def average_gradients(model):
    requests = []
    for p in model.parameters():
        if p.grad is not None:
            requests.append(dist.all_reduce(p.grad, async_op=True))
            p.grad /= dist.get_world_size()
    for request in requests:
        request.wait()
