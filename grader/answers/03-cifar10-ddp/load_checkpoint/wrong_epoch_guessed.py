# hint: damaged file taken
def load_checkpoint(path, model, optimizer, device):
    try:
        state = torch.load(path, map_location=device)
        weights, moments = state["model"], state["optimizer"]
        epoch = state.get("epoch", -1)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise RuntimeError(f"cannot load {path}") from error
    getattr(model, "module", model).load_state_dict(weights)
    optimizer.load_state_dict(moments)
    return epoch + 1
