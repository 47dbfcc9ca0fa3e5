def wrap(model, device):
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    kwargs = dict(device_ids=[device], output_device=device) if device.type != "cpu" else {}
    return DistributedDataParallel(model.to(device=device), find_unused_parameters=True, **kwargs)
