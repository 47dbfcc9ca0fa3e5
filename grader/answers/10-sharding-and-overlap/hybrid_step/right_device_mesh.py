from torch.distributed.device_mesh import init_device_mesh


def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    mesh = init_device_mesh("cpu", (replicas, shards), mesh_dim_names=("replica", "shard"))
    piece = gradient.new_empty(len(gradient) // shards)
    pieces = list(gradient.view(shards, -1).unbind())
    dist.reduce_scatter(piece, pieces, op=dist.ReduceOp.SUM, group=mesh.get_group("shard"))
    dist.all_reduce(piece, group=mesh.get_group("replica"))
    return piece / size
