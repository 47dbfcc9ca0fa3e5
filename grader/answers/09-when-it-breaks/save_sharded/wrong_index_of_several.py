# hint: index of several
def save_sharded(rank, size, piece, folder, step):
    path = Path(folder) / f"step-{step}"
    path.mkdir(exist_ok=True)
    torch.save(piece.clone(), path / f"rank-{rank}.pt")
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    tmp = path / f"index.{rank}"
    tmp.write_text(json.dumps({"step": step, "lengths": lengths}))
    os.replace(tmp, path / "index.json")
    dist.barrier()
