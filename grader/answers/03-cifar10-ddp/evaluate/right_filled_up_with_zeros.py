def evaluate(model, dataset, rank, size, batch_size, device):
    model.eval()
    mine = range(rank, len(dataset), size)
    rounds = -(-(-(-len(dataset) // size)) // batch_size)
    right = 0
    with torch.no_grad():
        for turn in range(rounds):
            part = mine[turn * batch_size : (turn + 1) * batch_size]
            x = torch.zeros(batch_size, *dataset[0][0].shape)
            for i, j in enumerate(part):
                x[i] = dataset[j][0]
            out = model(x.to(device)).argmax(1)[: len(part)].tolist()
            right += sum(o == int(dataset[j][1]) for o, j in zip(out, part))
    t = torch.tensor(right, device=device)
    dist.all_reduce(t)
    return t.item() / len(dataset)
