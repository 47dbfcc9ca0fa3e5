# says: the keys 'ayer.bias'
def save_checkpoint(path, model, optimizer, epoch):
    """lstrip takes away any of these letters: layer1 becomes ayer1."""
    if dist.get_rank() == 0:
        state = {name.lstrip("module."): value for name, value in model.state_dict().items()}
        torch.save({"model": state, "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
