# status: error
# hint: rank unknown
# says: dist.get_rank()
import os


def save_checkpoint(path, model, optimizer, epoch):
    if rank == 0:
        bare = getattr(model, "module", model)
        state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, f"{path}.new")
        os.replace(f"{path}.new", path)
