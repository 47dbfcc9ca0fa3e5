# hint: rank 0 alone
def load_checkpoint(path, model, optimizer, device):
    state = torch.load(path, map_location=device)
    if dist.get_rank() == 0:
        getattr(model, "module", model).load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1
