# hint: overwritten in place
def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        torch.save(
            {
                "model": getattr(model, "module", model).state_dict(),
                "optimizer": optimizer.state_dict(),
                "epoch": epoch,
            },
            path,
        )
