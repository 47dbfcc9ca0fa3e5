# hint: no state dict
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        state = {"model": getattr(model, "module", model), "optimizer": optimizer, "epoch": epoch}
        torch.save(state, f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
