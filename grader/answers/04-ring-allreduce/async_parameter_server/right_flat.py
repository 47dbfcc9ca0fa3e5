from torch.nn.utils import parameters_to_vector, vector_to_parameters


def async_parameter_server(rank, size, parameters, gradient_fn, steps, lr):
    vector = parameters_to_vector(parameters)
    if rank != 0:
        for _ in range(steps):
            push = dist.isend(parameters_to_vector(gradient_fn(parameters)), 0)
            answer = torch.empty_like(vector)
            pull = dist.irecv(answer, 0)
            push.wait()
            pull.wait()
            vector_to_parameters(answer, parameters)
        return None
    versions = torch.zeros(size, dtype=torch.int64)
    worst = 0
    for version in range(steps * (size - 1)):
        gradient = torch.empty_like(vector)
        sender = dist.recv(gradient)
        worst = max(worst, version - int(versions[sender]))
        vector = vector - lr * gradient
        dist.send(vector, sender)
        versions[sender] = version + 1
    vector_to_parameters(vector, parameters)
    return {"max_staleness": worst, "updates": version + 1, "parameters": list(parameters)}
