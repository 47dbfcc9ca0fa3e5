# hint: not FileNotFoundError
def load_checkpoint(path, model, optimizer, device):
    if not os.path.exists(path):
        return 0
    state = torch.load(path, map_location=device)
    getattr(model, "module", model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1
