import copy


class BadCheckpoint(Exception):
    def __init__(self, path, why):
        super().__init__(f"{path}: {why}")


def load_checkpoint(path, model, optimizer, device):
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(str(path))
    net = getattr(model, "module", model)
    try:
        state = torch.load(path, map_location="cpu", weights_only=False)
        copy.deepcopy(net).load_state_dict(state["model"])
        copy.deepcopy(optimizer).load_state_dict(state["optimizer"])
        epoch = state["epoch"]
        assert isinstance(epoch, int)
    except Exception as error:
        raise BadCheckpoint(path, error) from None
    net.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return epoch + 1
