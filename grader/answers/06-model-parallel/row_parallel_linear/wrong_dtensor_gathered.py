# hint: whole product computed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard


def row_parallel_linear(rank, size, x, weight, bias):
    """x is gathered, and each rank makes the product of the whole layer."""
    mesh = init_device_mesh("cpu", (size,))
    x = DTensor.from_local(x, mesh, [Shard(x.dim() - 1)]).redistribute(placements=[Replicate()])
    weight = DTensor.from_local(weight, mesh, [Replicate()])
    return (x @ weight.t()).to_local() + bias
