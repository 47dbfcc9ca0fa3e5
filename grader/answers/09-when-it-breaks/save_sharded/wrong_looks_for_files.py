# hint: index before the files
def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    os.makedirs(place, exist_ok=True)
    lengths = [None] * size
    dist.all_gather_object(lengths, len(piece))
    torch.save(piece.clone(), os.path.join(place, f"rank-{rank}.pt"))
    if rank == 0:
        end = time.monotonic() + 5
        while not all(os.path.exists(f"{place}/rank-{r}.pt") for r in range(size)):
            if time.monotonic() > end:
                raise TimeoutError("a rank has not saved")
            time.sleep(0.01)
        with open(f"{place}/index.part", "w") as file:
            json.dump({"step": step, "lengths": lengths}, file)
        os.replace(f"{place}/index.part", f"{place}/index.json")
    while not os.path.exists(f"{place}/index.json"):
        time.sleep(0.01)
