from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
def row_parallel_linear(rank, size, x, weight, bias):
    mesh = init_device_mesh("cpu", (size,))
    n = weight.shape[1] // size
    w = DTensor.from_local(weight[:, rank * n:(rank + 1) * n], mesh, [Shard(1)])
    x = DTensor.from_local(x, mesh, [Shard(x.dim() - 1)])
    y = x @ w.t()
    return y.redistribute(placements=[Replicate()]).to_local() + bias
