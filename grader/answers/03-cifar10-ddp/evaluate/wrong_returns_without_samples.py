# status: deadlock
# says: rank 3 has already returned without calling it
@torch.no_grad()
def evaluate(model, dataset, rank, size, batch_size, device):
    net = getattr(model, "module", model)
    net.eval()
    mine = range(rank, len(dataset), size)
    if not mine:
        return 0.0
    correct = 0
    for images, labels in DataLoader(Subset(dataset, mine), batch_size):
        correct += (net(images.to(device)).argmax(1) == labels.to(device)).sum().item()
    total = torch.tensor(float(correct), device=device)
    dist.all_reduce(total)
    return total.item() / len(dataset)
