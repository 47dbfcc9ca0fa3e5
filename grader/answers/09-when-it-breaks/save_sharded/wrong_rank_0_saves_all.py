# hint: files of other ranks
def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    pieces = [None] * size if rank == 0 else None
    dist.gather_object(piece.clone(), pieces, dst=0)
    if rank == 0:
        os.makedirs(place, exist_ok=True)
        for r, one in enumerate(pieces):
            torch.save(one.clone(), f"{place}/rank-{r}.pt")
        with open(f"{place}/index.part", "w") as file:
            json.dump({"step": step, "lengths": [len(p) for p in pieces]}, file)
        os.replace(f"{place}/index.part", f"{place}/index.json")
    dist.barrier()
