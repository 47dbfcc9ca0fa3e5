def average_gradients(model):
    size = dist.get_world_size()
    found = []
    for parameter in model.parameters():
        if parameter.grad is not None:
            future = dist.all_reduce(parameter.grad, async_op=True).get_future()
            found.append((parameter, future.then(lambda done: done.value()[0] / size)))
    for parameter, future in found:
        parameter.grad = future.wait()
