# status: error
# hint: group of an earlier call
from functools import lru_cache

from torch.distributed.device_mesh import init_device_mesh


@lru_cache
def mesh_of(replicas, shards):
    return init_device_mesh("cpu", (replicas, shards), mesh_dim_names=("replicate", "shard"))


def hybrid_step(rank, size, replicas, gradient):
    mesh = mesh_of(replicas, size // replicas)
    piece = gradient.new_empty(gradient.numel() * replicas // size)
    dist.reduce_scatter_tensor(piece, gradient, group=mesh["shard"].get_group())
    dist.all_reduce(piece, group=mesh["replicate"].get_group())
    return piece / size
