def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank():
        return
    tmp = f"{path}.tmp"
    with open(tmp, "wb") as f:
        torch.save(
            {
                "model": getattr(model, "module", model).state_dict(),
                "optimizer": optimizer.state_dict(),
                "epoch": epoch,
            },
            f,
        )
        os.replace(tmp, path)
