# hint: gap
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        state = {
            "model": getattr(model, "module", model).state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": epoch,
        }
        if os.path.exists(path):
            os.rename(path, f"{path}.bak")
        try:
            torch.save(state, path)
        except Exception:
            os.replace(f"{path}.bak", path)
            raise
