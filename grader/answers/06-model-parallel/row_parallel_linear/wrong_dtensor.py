# says: tensor.DTensor where a tensor of shape
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard


def row_parallel_linear(rank, size, x, weight, bias):
    mesh = init_device_mesh(x.device.type, (size,))
    xd = DTensor.from_local(x, mesh, [Shard(-1 % x.dim())], run_check=False)
    wd = DTensor.from_local(weight.chunk(size, 1)[rank].contiguous(), mesh, [Shard(1)], run_check=False)
    return F.linear(xd, wd).redistribute(mesh, [Replicate()]) + DTensor.from_local(bias, mesh, [Replicate()])
