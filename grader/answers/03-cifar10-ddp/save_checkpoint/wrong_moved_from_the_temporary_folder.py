# hint: moved by copying
import shutil
import tempfile


def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() != 0:
        return
    bare = getattr(model, "module", model)
    state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    with tempfile.NamedTemporaryFile(delete=False) as file:
        torch.save(state, file)
    shutil.move(file.name, path)
