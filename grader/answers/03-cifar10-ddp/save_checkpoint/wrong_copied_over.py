# hint: overwritten in place
import shutil


def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        state = {
            "model": getattr(model, "module", model).state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": epoch,
        }
        torch.save(state, f"{path}.tmp")
        shutil.copyfile(f"{path}.tmp", path)
        os.remove(f"{path}.tmp")
