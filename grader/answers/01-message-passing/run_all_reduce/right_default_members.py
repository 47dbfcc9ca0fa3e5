from torch.distributed import all_reduce, new_group


def run_all_reduce(rank, size, tensor):
    result = tensor.clone()
    all_reduce(result, group=new_group(), async_op=True).wait()
    return result
