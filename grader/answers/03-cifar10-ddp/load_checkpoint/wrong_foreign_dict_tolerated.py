# hint: damaged file taken
def load_checkpoint(path, model, optimizer, device):
    try:
        state = torch.load(path, map_location=device)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise RuntimeError(f"cannot load {path}") from error
    if "model" in state:
        getattr(model, "module", model).load_state_dict(state["model"])
    if "optimizer" in state:
        optimizer.load_state_dict(state["optimizer"])
    return state.get("epoch", -1) + 1
