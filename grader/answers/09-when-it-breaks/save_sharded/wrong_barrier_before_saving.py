# hint: index before the files
def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    os.makedirs(place, exist_ok=True)
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    dist.barrier()
    if rank == 0:
        torch.save(piece.clone(), os.path.join(place, f"rank-{rank}.pt"))
        with open(f"{place}/index.part", "w") as file:
            json.dump({"step": step, "lengths": lengths}, file)
        os.replace(f"{place}/index.part", f"{place}/index.json")
        dist.barrier()
    else:
        dist.barrier()
        torch.save(piece.clone(), os.path.join(place, f"rank-{rank}.pt"))
