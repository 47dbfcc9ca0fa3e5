from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, device):
    model.to(device)
    ids = None if device.type == "cpu" else [device]
    return DDP(model, device_ids=ids, output_device=ids and ids[0])
