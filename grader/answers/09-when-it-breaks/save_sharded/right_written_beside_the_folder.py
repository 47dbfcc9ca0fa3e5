def save_sharded(rank, size, piece, folder, step):
    place = Path(folder, f"step-{step}")
    place.mkdir(exist_ok=True)
    torch.save(piece.clone(), place / f"rank-{rank}.pt")
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    if rank == 0:
        part = Path(f"{folder}.part")
        part.write_text(json.dumps({"step": step, "lengths": lengths}))
        part.replace(place / "index.json")
    dist.barrier()
