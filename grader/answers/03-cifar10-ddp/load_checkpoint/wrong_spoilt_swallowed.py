# hint: damaged file taken
def load_checkpoint(path, model, optimizer, device):
    try:
        state = torch.load(path, map_location=device)
    except FileNotFoundError:
        raise
    except Exception:
        print("starting afresh")
        return 0
    getattr(model, "module", model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1
