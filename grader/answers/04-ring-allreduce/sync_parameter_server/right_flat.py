from torch.nn.utils import parameters_to_vector, vector_to_parameters


def sync_parameter_server(rank, size, parameters, gradients, lr):
    flat = parameters_to_vector(parameters)
    if rank:
        dist.send(parameters_to_vector(gradients), dst=0)
        dist.recv(flat, src=0)
    else:
        inboxes = [torch.empty_like(flat) for _ in range(size - 1)]
        for request in [dist.irecv(box, src=i) for i, box in enumerate(inboxes, 1)]:
            request.wait()
        flat = flat - lr * torch.stack(inboxes).mean(dim=0)
        for request in [dist.isend(flat, dst=worker) for worker in range(1, size)]:
            request.wait()
    vector_to_parameters(flat, parameters)
    return parameters
