# hint: another model's
def load_checkpoint(path, model, optimizer, device):
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    try:
        state = torch.load(path, map_location=device)
        weights, moments, epoch = state["model"], state["optimizer"], state["epoch"]
    except Exception as error:
        raise RuntimeError(f"{path} is no checkpoint") from error
    getattr(model, "module", model).load_state_dict(weights, strict=False)
    optimizer.load_state_dict(moments)
    return epoch + 1
