# status: error
# hint: no map_location
# says: CUDA
def load_checkpoint(path, model, optimizer, device):
    state = torch.load(path)
    getattr(model, "module", model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1
