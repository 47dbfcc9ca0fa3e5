# hint: every rank writes
def save_checkpoint(path, model, optimizer, epoch):
    state = {
        "model": getattr(model, "module", model).state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": epoch,
    }
    torch.save(state, f"{path}.tmp")
    os.replace(f"{path}.tmp", path)
