def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        module = model.module if isinstance(model, DistributedDataParallel) else model
        state = dict(model=module.state_dict(), optimizer=optimizer.state_dict(), epoch=epoch)
        part = str(path) + ".tmp"
        torch.save(state, part)
        os.rename(part, path)
