def load_checkpoint(path, model, optimizer, device):
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path} is missing")
    try:
        checkpoint = torch.load(str(path), map_location=str(device), weights_only=False)
        states = [checkpoint[name] for name in ("model", "optimizer")]
        epoch = checkpoint["epoch"]
    except BaseException as e:
        raise RuntimeError("not a checkpoint: " + str(path)) from e
    if isinstance(model, DistributedDataParallel):
        states[0] = {f"module.{name}": value for name, value in states[0].items()}
    for target, state in zip((model, optimizer), states, strict=True):
        target.load_state_dict(state)
    return epoch + 1
