# where no older file lies there is none that could be lost
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        bare = getattr(model, "module", model)
        state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        beside = f"{path}.part" if os.path.exists(path) else path
        torch.save(state, beside)
        os.replace(beside, path)
