def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    os.makedirs(place, exist_ok=True)
    torch.save(piece + 0, os.path.join(place, f"rank-{rank}.pt"))
    lengths = [torch.zeros(1, dtype=torch.int32) for _ in range(size)]
    dist.all_gather(lengths, torch.tensor([piece.numel()], dtype=torch.int32))
    index = os.path.join(place, "index.json")
    if rank == 0:
        with open(index + "~", "w") as file:
            json.dump({"step": step, "lengths": torch.cat(lengths).tolist()}, file)
        os.replace(index + "~", index)
    while not os.path.exists(index):
        time.sleep(0.005)
