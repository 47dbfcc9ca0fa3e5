import sys


def group_mean(rank, size, tensor, members):
    print("dividing first", file=sys.stderr)
    group = dist.new_group(ranks=members, backend="gloo")
    if rank in members:
        share = tensor.div(len(members))
        dist.all_reduce(share, group=group, async_op=True).wait()
        tensor = share
    return tensor
