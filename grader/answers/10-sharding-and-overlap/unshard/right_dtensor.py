from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard


def unshard(rank, size, piece, shapes):
    mesh = init_device_mesh("cpu", (size,))
    full = DTensor.from_local(piece, mesh, [Shard(0)]).full_tensor()
    lengths = [math.prod(shape) for shape in shapes]
    return [p.view(s) for p, s in zip(full[: sum(lengths)].split(lengths), shapes)]
