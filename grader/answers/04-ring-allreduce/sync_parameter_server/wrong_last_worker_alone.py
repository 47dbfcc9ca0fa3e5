# hint: one worker alone
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        for worker in range(1, size):
            for gradient in gradients:
                dist.recv(gradient, worker)
        for parameter, gradient in zip(parameters, gradients):
            parameter -= lr * gradient / (size - 1)
        for worker in range(1, size):
            for parameter in parameters:
                dist.send(parameter, worker)
    else:
        for gradient in gradients:
            dist.send(gradient, 0)
        for parameter in parameters:
            dist.recv(parameter, 0)
    return parameters
