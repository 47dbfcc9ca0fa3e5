# says: send_object_list sends two messages
def relay(rank, size, tensor):
    box = [None]
    if rank > 0:
        dist.recv_object_list(box, src=rank - 1)
        tensor = tensor + box[0]
    if rank < size - 1:
        dist.send_object_list([tensor], dst=rank + 1)
    return tensor
