import shutil
import tempfile
from pathlib import Path


def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        bare = getattr(model, "module", model)
        state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
            new = Path(folder, "new.pth")
            torch.save(state, new)
            shutil.move(new, path)
