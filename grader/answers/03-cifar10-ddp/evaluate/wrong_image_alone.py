# status: error
# says: should contain 3 elements
def evaluate(model, dataset, rank, size, batch_size, device):
    model = getattr(model, "module", model)
    model.eval()
    right = torch.zeros(1, device=device)
    with torch.no_grad():
        for i in range(rank, len(dataset), size):
            image, label = dataset[i]
            right += int(model(image.to(device)).argmax() == label)
    dist.all_reduce(right)
    return right.item() / len(dataset)
