# status: error
# hint: group of an earlier call
GROUPS = []


def run_all_reduce(rank, size, tensor):
    if not GROUPS:
        GROUPS.append(dist.new_group(list(range(size))))
    dist.all_reduce(tensor, group=GROUPS[0])
    return tensor
