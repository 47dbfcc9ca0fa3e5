def evaluate(model, dataset, rank, size, batch_size, device):
    answer = [None]
    if rank == 0:
        net = getattr(model, "module", model).eval()
        with torch.no_grad():
            hits = [
                (net(x.to(device)).argmax(-1) == y.to(device)).float()
                for x, y in DataLoader(dataset, batch_size=batch_size)
            ]
        answer = [torch.cat(hits).double().mean().item()]
    dist.broadcast_object_list(answer, src=0)
    return answer[0]
