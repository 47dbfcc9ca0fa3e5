# status: error
# hint: no tensor
def half_precision_hook(group, bucket):
    small = bucket.half()
    return dist.all_reduce(small, group=group, async_op=True).get_future()
