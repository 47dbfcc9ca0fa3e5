# status: error
# says: The step's folder may be there
def save_sharded(rank, size, piece, folder, step):
    path = Path(folder, f"step-{step}")
    torch.save(piece.clone(), path / f"rank-{rank}.pt")
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    if rank == 0:
        (path / "index.tmp").write_text(json.dumps({"step": step, "lengths": lengths}))
        os.replace(path / "index.tmp", path / "index.json")
    dist.barrier()
