# hint: from outside
import tempfile


def save_sharded(rank, size, piece, folder, step):
    place = Path(folder, f"step-{step}")
    place.mkdir(exist_ok=True)
    torch.save(piece.clone(), place / f"rank-{rank}.pt")
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    if rank == 0:
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            json.dump({"step": step, "lengths": lengths}, file)
        shutil.move(file.name, place / "index.json")
    dist.barrier()
