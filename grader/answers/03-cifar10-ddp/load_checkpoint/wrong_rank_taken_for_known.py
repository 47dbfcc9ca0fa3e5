# status: wrong
# hint: path not named
def load_checkpoint(path, model, optimizer, device):
    where = f"cuda:{rank}" if torch.cuda.is_available() else "cpu"
    if not path.exists():
        raise FileNotFoundError(path)
    state = torch.load(path, map_location=where)
    getattr(model, "module", model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1
