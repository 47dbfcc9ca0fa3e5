# hint: own gradients
def half_precision_hook(group, bucket):
    future = torch.futures.Future()
    future.set_result(bucket.buffer().half().to(bucket.buffer().dtype))
    return future
