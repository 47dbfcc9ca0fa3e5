# status: error
# says: At the first save nothing lies at the path yet
import shutil


def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() != 0:
        return
    path, bare = Path(path), getattr(model, "module", model)
    shutil.copy2(path, path.with_suffix(".bak"))
    beside = path.with_suffix(".part")
    state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(state, beside)
    os.replace(beside, path)
