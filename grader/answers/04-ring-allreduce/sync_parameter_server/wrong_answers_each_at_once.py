# hint: answered too early
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank != 0:
        for gradient in gradients:
            dist.send(gradient, dst=0)
        for parameter in parameters:
            dist.recv(parameter, src=0)
        return parameters
    for worker in range(1, size):
        for parameter in parameters:
            received = torch.empty_like(parameter)
            dist.recv(received, src=worker)
            parameter -= lr * received / (size - 1)
        for parameter in parameters:
            dist.send(parameter, dst=worker)
    return parameters
