# says: left
def load_checkpoint(path, model, optimizer, device):
    bare = getattr(model, "module", model)
    try:
        state = torch.load(path, map_location=device)
        bare.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epoch"] + 1
    except FileNotFoundError:
        raise
    except Exception as error:
        raise RuntimeError(f"cannot load {path}") from error
