# status: error
# hint: module of a bare model
def load_checkpoint(path, model, optimizer, device):
    state = torch.load(path, map_location=device)
    model.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1
