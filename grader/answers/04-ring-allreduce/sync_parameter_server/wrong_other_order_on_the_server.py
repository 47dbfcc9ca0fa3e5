# status: deadlock
# says: neither can ever receive
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank > 0:
        for gradient in gradients:
            dist.send(gradient, 0)
        for parameter in parameters:
            dist.recv(parameter, 0)
        return parameters
    for parameter in parameters:
        total = torch.zeros_like(parameter)
        for worker in range(1, size):
            received = torch.empty_like(parameter)
            dist.recv(received, worker)
            total += received
        parameter -= lr * total / (size - 1)
        for worker in range(1, size):
            dist.send(parameter, worker)
    return parameters
