# hint: nothing written
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0 and os.path.exists(path):
        bare = getattr(model, "module", model)
        state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, f"{path}.part")
        os.replace(f"{path}.part", path)
