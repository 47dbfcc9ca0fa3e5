# hint: whole product computed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard


def column_parallel_linear(rank, size, x, weight, bias):
    """Each rank multiplies with the whole weight, and DTensor cuts the result."""
    mesh = init_device_mesh("cpu", (size,))
    x, weight, bias = (DTensor.from_local(t, mesh, [Replicate()]) for t in (x, weight, bias))
    y = torch.nn.functional.linear(x, weight, bias)
    return y.redistribute(placements=[Shard(y.dim() - 1)]).to_local()
