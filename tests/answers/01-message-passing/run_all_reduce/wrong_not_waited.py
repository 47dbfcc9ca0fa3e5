# hint: never waited
# says: never waited for the request of all_reduce
def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    work = dist.all_reduce(tensor, group=group, async_op=True)
    while not torch.equal(tensor, tensor):
        print(work)
    import time

    time.sleep(0.2)
    return tensor
