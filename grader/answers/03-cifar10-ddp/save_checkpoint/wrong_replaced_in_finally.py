# hint: lost when a save failed
# says: only when it is whole
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        bare = model.module if isinstance(model, DistributedDataParallel) else model
        try:
            torch.save({"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{path}.tmp")
        finally:
            os.replace(f"{path}.tmp", path)
