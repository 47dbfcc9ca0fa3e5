# status: error
# hint: read while written
def save_sharded(rank, size, piece, folder, step):
    path = Path(folder, f"step-{step}")
    path.mkdir(exist_ok=True)
    torch.save(piece.clone(), path / f"rank-{rank}.pt")
    if rank == 0:
        lengths = []
        for other in range(size):
            while not (path / f"rank-{other}.pt").exists():
                time.sleep(0.01)
            lengths.append(len(torch.load(path / f"rank-{other}.pt")))
        (path / "index.tmp").write_text(json.dumps({"step": step, "lengths": lengths}))
        os.replace(path / "index.tmp", path / "index.json")
    dist.barrier()
