import io


def save_checkpoint(path, model, optimizer, epoch):
    if dist.get_rank() == 0:
        buffer = io.BytesIO()
        prefix = "module."
        state = {
            (k[len(prefix):] if isinstance(model, DistributedDataParallel) else k): v.cpu()
            for k, v in model.state_dict().items()
        }
        torch.save({"model": state, "optimizer": optimizer.state_dict(), "epoch": epoch}, buffer)
        part = f"{path}.part"
        with open(part, "wb") as file:
            file.write(buffer.getvalue())
        os.replace(part, path)
    dist.barrier()
