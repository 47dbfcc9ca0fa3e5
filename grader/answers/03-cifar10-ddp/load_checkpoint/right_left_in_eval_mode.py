def load_checkpoint(path, model, optimizer, device):
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        missing = {"model", "optimizer", "epoch"} - set(state)
        if missing:
            raise KeyError(f"no {sorted(missing)}")
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"cannot resume from {path}: {error!r}") from error
    bare = model.module if isinstance(model, DistributedDataParallel) else model
    bare.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    model.eval()  # as PyTorch's tutorial on checkpoints ends
    return state["epoch"] + 1
