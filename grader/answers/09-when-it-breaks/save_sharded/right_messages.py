def save_sharded(rank, size, piece, folder, step):
    where = os.path.join(folder, f"step-{step}")
    Path(where).mkdir(exist_ok=True)
    copy = torch.empty(piece.shape).copy_(piece)
    torch.save(copy, os.path.join(where, f"rank-{rank}.pt"))
    word = torch.tensor([float(piece.shape[0])], dtype=torch.float64)
    if rank == 0:
        lengths = [piece.shape[0]]
        for other in range(1, size):
            dist.recv(word, src=other)
            lengths.append(int(word.item()))
        (Path(where) / "index.new").write_text(json.dumps(dict(step=step, lengths=lengths)))
        os.replace(os.path.join(where, "index.new"), os.path.join(where, "index.json"))
        for other in range(1, size):
            dist.send(word, dst=other)
    else:
        dist.send(word, dst=0)
        dist.recv(word, src=0)
