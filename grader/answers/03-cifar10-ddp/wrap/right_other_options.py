def wrap(model, device):
    options = {"device_ids": [device.index]} if device.type != "cpu" else {}
    print("wrapping for", device)
    return nn.parallel.DistributedDataParallel(
        model.to(device), broadcast_buffers=True, gradient_as_bucket_view=True, **options
    )
