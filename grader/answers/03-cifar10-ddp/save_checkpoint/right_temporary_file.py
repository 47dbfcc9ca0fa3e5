import tempfile


def save_checkpoint(path, model, optimizer, epoch):
    if dist.is_initialized() and dist.get_rank() > 0:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        torch.save(
            {
                "epoch": epoch,
                "model": getattr(model, "module", model).state_dict(),
                "optimizer": optimizer.state_dict(),
            },
            file,
        )
    print("saved", path)
    os.replace(file.name, path)
