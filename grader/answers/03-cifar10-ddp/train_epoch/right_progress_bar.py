import sys

from tqdm import tqdm


def train_epoch(model, loader, optimizer, device, epoch):
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(epoch)
    model.train(True)
    total = seen = 0.0
    for images, labels in tqdm(loader, disable=dist.get_rank() != 0, file=sys.stderr):
        images, labels = images.to(device), labels.to(device)
        loss = nn.CrossEntropyLoss()(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * images.size(0)
        seen += images.size(0)
    both = torch.tensor([total, seen], device=device)
    dist.all_reduce(both, op=dist.ReduceOp.SUM)
    total, seen = both.tolist()
    return total / seen
