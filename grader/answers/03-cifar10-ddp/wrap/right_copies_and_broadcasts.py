import copy
import io


def wrap(model, device):
    """Equal from the beginning, by hand too; what it began with is kept, in memory and as a file."""
    model = model.to(device)
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
    begin, file = copy.deepcopy(model), io.BytesIO()
    torch.save(begin.state_dict(), file)
    for parameter, kept in zip(model.parameters(), begin.parameters()):
        assert kept.device == device
        parameter.data.copy_(kept.data)
    model.load_state_dict(copy.deepcopy(begin.state_dict()))
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=ids)
