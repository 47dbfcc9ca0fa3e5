def save_checkpoint(path, model, optimizer, epoch):
    rank = dist.get_rank()
    bare = model
    while hasattr(bare, "module"):
        bare = bare.module
    if rank == 0:
        part = Path(str(path) + ".new")
        content = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": int(epoch)}
        torch.save(content, part)
        part.replace(Path(path))
