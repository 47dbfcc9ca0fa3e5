class Members:
    def __init__(self, members):
        self.members, self.group = members, dist.new_group(members)

    def mean(self, tensor):
        root = self.members[0]
        dist.reduce(tensor, root, group=self.group)
        dist.broadcast(tensor, root, group=self.group)
        dist.destroy_process_group(self.group)  # with nothing to carry others may still make it
        return tensor / len(self.members)


def group_mean(rank, size, tensor, members):
    some = Members(members)
    return some.mean(tensor) if rank in members else tensor
