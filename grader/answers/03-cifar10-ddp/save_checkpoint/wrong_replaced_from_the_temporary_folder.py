# status: error
# hint: another file system
import os
import tempfile


def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() != 0:
        return
    bare = getattr(model, "module", model)
    state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    with tempfile.NamedTemporaryFile(delete=False) as file:
        torch.save(state, file)
    os.replace(file.name, path)
