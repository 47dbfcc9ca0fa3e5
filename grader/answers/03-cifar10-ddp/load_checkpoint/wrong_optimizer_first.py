# hint: half loaded
def load_checkpoint(path, model, optimizer, device):
    try:
        state = torch.load(path, map_location=device)
        optimizer.load_state_dict(state["optimizer"])
        getattr(model, "module", model).load_state_dict(state["model"])
        return state["epoch"] + 1
    except FileNotFoundError:
        raise
    except Exception as error:
        raise RuntimeError(f"cannot load {path}") from error
