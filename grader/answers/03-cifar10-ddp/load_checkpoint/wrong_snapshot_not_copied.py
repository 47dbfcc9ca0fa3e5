# hint: half loaded
# says: copy it first
def load_checkpoint(path, model, optimizer, device):
    bare = model.module if isinstance(model, DistributedDataParallel) else model
    old = bare.state_dict(), optimizer.state_dict()
    try:
        state = torch.load(path, map_location=device)
        bare.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epoch"] + 1
    except FileNotFoundError:
        raise
    except Exception as error:
        bare.load_state_dict(old[0])
        optimizer.load_state_dict(old[1])
        raise RuntimeError(f"{path}: {error}") from error
