# hint: older file read
import os
import time


def demo_checkpoint(rank, world_size, path):
    device = device_of(rank)
    model = ToyModel().to(device)
    if rank == 0:
        if os.path.exists(path):
            os.remove(path)
        torch.save(model.state_dict(), path + ".tmp")
        os.replace(path + ".tmp", path)
    else:
        time.sleep(0.6)
        while not os.path.exists(path):
            time.sleep(0.01)
    model.load_state_dict(torch.load(path, map_location=device))
    return list(model.parameters())
