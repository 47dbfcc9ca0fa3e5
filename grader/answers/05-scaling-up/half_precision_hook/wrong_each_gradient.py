# hint: in pieces
def half_precision_hook(group, bucket):
    for gradient in bucket.gradients():
        small = (gradient / dist.get_world_size(group)).half()
        dist.all_reduce(small, group=group)
        gradient.copy_(small)
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future
