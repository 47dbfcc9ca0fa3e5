class Averager:
    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def __call__(self, gradient):
        dist.reduce(gradient, dst=0)
        if self.rank == 0:
            gradient.mul_(1 / self.size)
        dist.broadcast(gradient, src=0)


def average_gradients(model):
    average = Averager()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                average(parameter.grad)
