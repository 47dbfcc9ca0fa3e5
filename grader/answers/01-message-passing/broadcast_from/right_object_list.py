def broadcast_from(rank, size, tensor, src):
    box = [tensor if rank == src else None]
    dist.broadcast_object_list(box, src=src)
    return box[0].clone()
