from torch.distributed import _functional_collectives as functional


def hybrid_step(rank, size, replicas, gradient):
    shards = size // replicas
    mine = {}
    for name, groups in (
        ("within", [list(range(r * shards, (r + 1) * shards)) for r in range(replicas)]),
        ("between", [list(range(s, size, shards)) for s in range(shards)]),
    ):
        for ranks in groups:
            group = dist.new_group(ranks)
            if rank in ranks:
                mine[name] = group
    piece = functional.reduce_scatter_tensor(gradient, "sum", 0, mine["within"])
    piece = functional.all_reduce(piece, "sum", mine["between"])
    return piece / size + 0
