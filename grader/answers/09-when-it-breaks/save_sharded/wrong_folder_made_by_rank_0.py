# status: error
# hint: folder of the step
def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    if rank == 0:
        os.makedirs(place, exist_ok=True)
    else:
        time.sleep(0.1)  # rank 0 makes it
    torch.save(piece.clone(), os.path.join(place, f"rank-{rank}.pt"))
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    if rank == 0:
        with open(place + "/index.tmp", "w") as file:
            json.dump({"step": step, "lengths": lengths}, file)
        os.replace(place + "/index.tmp", place + "/index.json")
    dist.barrier()
