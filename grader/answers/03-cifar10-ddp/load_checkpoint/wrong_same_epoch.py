# hint: same epoch again
def load_checkpoint(path, model, optimizer, device):
    state = torch.load(path, map_location=device)
    getattr(model, "module", model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"]
