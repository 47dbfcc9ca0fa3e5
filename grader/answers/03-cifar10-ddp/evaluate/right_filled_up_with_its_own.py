def evaluate(model, dataset, rank, size, batch_size, device):
    model = getattr(model, "module", model)
    model.eval()
    mine = list(range(rank, len(dataset), size))
    right = 0
    with torch.inference_mode():
        for begin in range(0, len(mine), batch_size):
            part = mine[begin : begin + batch_size]
            filled = part + part[-1:] * (batch_size - len(part))  # all batches of one shape
            x = torch.stack([dataset[i][0] for i in filled]).to(device)
            out = model(x)[: len(part)].argmax(1).tolist()
            right += sum(o == int(dataset[i][1]) for o, i in zip(out, part))
    t = torch.tensor(right, device=device)
    dist.all_reduce(t)
    return t.item() / len(dataset)
