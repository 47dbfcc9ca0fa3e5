def load_checkpoint(path, model, optimizer, device):
    import copy

    box = [None]
    if dist.get_rank() == 0:
        try:
            box[0] = torch.load(path, map_location="cpu")
        except BaseException as e:
            box[0] = e if isinstance(e, FileNotFoundError) else RuntimeError(f"{path}: {e}")
    dist.broadcast_object_list(box, src=0)
    if isinstance(box[0], BaseException):
        raise box[0]
    bare = model.module if isinstance(model, DistributedDataParallel) else model
    old = copy.deepcopy((bare.state_dict(), optimizer.state_dict()))
    try:
        bare.load_state_dict(box[0]["model"])
        optimizer.load_state_dict(box[0]["optimizer"])
        return box[0]["epoch"] + 1
    except Exception as e:
        bare.load_state_dict(old[0])
        optimizer.load_state_dict(old[1])
        raise RuntimeError(f"bad checkpoint {path}") from e
