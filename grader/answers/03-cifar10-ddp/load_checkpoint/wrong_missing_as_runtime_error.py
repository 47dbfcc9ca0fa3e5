# hint: not FileNotFoundError
def load_checkpoint(path, model, optimizer, device):
    try:
        state = torch.load(path, map_location=device)
        parts = state["model"], state["optimizer"], state["epoch"]
    except Exception as error:
        raise RuntimeError(f"cannot load {path}") from error
    getattr(model, "module", model).load_state_dict(parts[0])
    optimizer.load_state_dict(parts[1])
    return parts[2] + 1
