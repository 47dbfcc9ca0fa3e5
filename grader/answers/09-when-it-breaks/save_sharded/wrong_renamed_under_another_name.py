# status: error
# says: What is renamed is not there
def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    os.makedirs(place, exist_ok=True)
    torch.save(piece.clone(), os.path.join(place, f"rank-{rank}.pt"))
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    if rank == 0:
        with open(f"{place}/index.tmp", "w") as file:
            json.dump({"step": step, "lengths": lengths}, file)
        os.replace(f"{place}/index.json.tmp", f"{place}/index.json")
    dist.barrier()
