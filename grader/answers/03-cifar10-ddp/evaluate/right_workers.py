def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = torch.zeros(1, device=device)
    loader = DataLoader(share, batch_size, num_workers=1, multiprocessing_context="fork")
    with torch.no_grad():
        for images, labels in loader:
            correct += (bare(images.to(device)).argmax(1) == labels.to(device)).sum()
    dist.all_reduce(correct)
    return correct.item() / len(dataset)
