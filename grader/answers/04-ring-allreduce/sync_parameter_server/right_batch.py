class Server:
    def __init__(self, size, parameters, lr):
        self.workers, self.parameters, self.lr = range(1, size), parameters, lr

    def serve(self):
        boxes = {w: [torch.empty_like(p) for p in self.parameters] for w in self.workers}
        self.all(dist.irecv, lambda w, i: boxes[w][i])
        for i, p in enumerate(self.parameters):
            p -= self.lr * torch.stack([boxes[w][i] for w in self.workers]).mean(0)
        self.all(dist.isend, lambda w, i: self.parameters[i])

    def all(self, operation, tensor):
        ops = [
            dist.P2POp(operation, tensor(w, i), w)
            for w in self.workers
            for i in range(len(self.parameters))
        ]
        for request in dist.batch_isend_irecv(ops):
            request.wait()


def sync_parameter_server(rank, size, parameters, gradients, lr):
    if rank == 0:
        Server(size, parameters, lr).serve()
    else:
        pushes = [dist.isend(g, 0) for g in gradients]
        pulls = [dist.irecv(p, 0) for p in parameters]
        for request in pushes + pulls:
            request.wait()
    return parameters
