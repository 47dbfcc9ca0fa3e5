from torch.distributed import ReduceOp, all_reduce, get_world_size


def average_gradients(model):
    requests = []
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            print("no gradient:", name)
            continue
        parameter.grad.data.div_(get_world_size())
        requests.append(all_reduce(parameter.grad.data, op=ReduceOp.SUM, async_op=True))
    for request in requests:
        request.wait()
