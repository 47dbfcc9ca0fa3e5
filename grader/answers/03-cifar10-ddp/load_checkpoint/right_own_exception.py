class SpoiltCheckpoint(Exception):
    pass


def read(path, device):
    try:
        content = torch.load(path, map_location=lambda storage, _: storage)
        return content["model"], content["optimizer"], content["epoch"]
    except FileNotFoundError as error:
        raise FileNotFoundError(path) from error
    except Exception as error:
        raise SpoiltCheckpoint(path, str(error)) from error


def load_checkpoint(path, model, optimizer, device):
    weights, momenta, last = read(path, device)
    print("resuming after epoch", last)
    bare = getattr(model, "module", model)
    bare.load_state_dict(weights, strict=True)
    optimizer.load_state_dict(momenta)
    return last + 1
