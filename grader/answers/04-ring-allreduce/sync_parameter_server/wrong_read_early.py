# hint: read before wait
def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        requests = []
        for p in parameters:
            for worker in range(1, size):
                buffer = torch.empty_like(p)
                requests.append(dist.irecv(buffer, worker))
                p -= lr * buffer / (size - 1)
        for request in requests:
            request.wait()
        for p in parameters:
            for worker in range(1, size):
                dist.send(p, worker)
    else:
        for g in gradients:
            dist.send(g, 0)
        for p in parameters:
            dist.recv(p, 0)
    return parameters
