# hint: next epoch
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        state = {
            "model": getattr(model, "module", model).state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": epoch + 1,
        }
        torch.save(state, f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
