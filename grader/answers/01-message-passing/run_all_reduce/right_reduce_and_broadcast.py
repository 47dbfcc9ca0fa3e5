class Everybody:
    def __init__(self):
        self.group = dist.new_group(range(dist.get_world_size()), backend="gloo")

    def sum(self, tensor):
        dist.reduce(tensor, 0, group=self.group)
        dist.broadcast(tensor, 0, group=self.group)
        return tensor


run_all_reduce = lambda rank, size, tensor: Everybody().sum(tensor)  # noqa: E731
