# hint: wrong keys
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        torch.save(getattr(model, "module", model).state_dict(), f"{path}.tmp")
        os.replace(f"{path}.tmp", path)
