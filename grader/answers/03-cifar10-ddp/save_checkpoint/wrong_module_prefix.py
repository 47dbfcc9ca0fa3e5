# hint: module. in the names
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
