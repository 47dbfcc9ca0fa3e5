import copy


def load_checkpoint(path, model, optimizer, device):
    bare = getattr(model, "module", model)
    before = copy.deepcopy(bare.state_dict()), copy.deepcopy(optimizer.state_dict())
    try:
        state = torch.load(path, map_location=device)
        bare.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epoch"] + 1
    except FileNotFoundError:
        raise
    except Exception as error:
        bare.load_state_dict(before[0])
        optimizer.load_state_dict(before[1])
        raise RuntimeError(f"cannot load {path}") from error
