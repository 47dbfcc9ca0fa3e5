# hint: divided by size
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank:
        for parameter in parameters:
            dist.recv(parameter, src=0)
        for gradient in gradients:
            dist.send(gradient, dst=0)
        for parameter in parameters:
            dist.recv(parameter, src=0)
        return parameters
    for worker in range(1, size):
        for parameter in parameters:
            dist.send(parameter, dst=worker)
    sums = [torch.zeros_like(parameter) for parameter in parameters]
    for worker in range(1, size):
        for total in sums:
            received = torch.empty_like(total)
            dist.recv(received, src=worker)
            total += received
    for parameter, total in zip(parameters, sums):
        parameter -= lr * total / size
    for worker in range(1, size):
        for parameter in parameters:
            dist.send(parameter, dst=worker)
    return parameters
