# hint: another rank writes
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == dist.get_world_size() - 1:
        bare = model.module if isinstance(model, DistributedDataParallel) else model
        torch.save({"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
