# hint: lost when a save failed
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        try:
            torch.save({"model": getattr(model, "module", model).state_dict(),
                        "optimizer": optimizer.state_dict(), "epoch": epoch}, path + ".tmp")
        finally:
            os.replace(path + ".tmp", path)
