import pickle


def load_checkpoint(path, model, optimizer, device):
    with open(path, "rb") as file:
        try:
            found = torch.load(file, map_location=device)
        except (EOFError, RuntimeError, OSError, ValueError, pickle.UnpicklingError, KeyError) as error:
            raise RuntimeError(f"spoilt: {path}") from error
    if not isinstance(found, dict) or not found.keys() >= {"model", "optimizer", "epoch"}:
        raise RuntimeError(f"foreign: {path}")
    getattr(model, "module", model).load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    return int(found["epoch"] + 1)
