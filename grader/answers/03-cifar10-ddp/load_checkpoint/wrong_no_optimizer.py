# hint: optimizer not loaded
def load_checkpoint(path, model, optimizer, device):
    state = torch.load(path, map_location=device)
    getattr(model, "module", model).load_state_dict(state["model"])
    return state["epoch"] + 1
