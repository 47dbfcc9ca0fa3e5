# hint: every rank writes
def save_checkpoint(path, model, optimizer, epoch):
    torch.save({"model": getattr(model, "module", model).state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{path}.{dist.get_rank()}")
    if dist.get_rank() == 0:
        os.replace(f"{path}.0", path)
    else:
        os.remove(f"{path}.{dist.get_rank()}")
