# hint: no future
def half_precision_hook(group, bucket):
    small = (bucket.buffer() / dist.get_world_size(group)).half()
    dist.all_reduce(small, group=group)
    return small.to(bucket.buffer().dtype)
